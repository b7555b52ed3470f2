/** Guards of every write: it is refused if the plan is too old, or if another operator may be active. */
import { isKubeError, type Kind, type KubeClient, type Reference } from "../kube/index.ts";
import { type MemberAddress, type MemberClient, MemberError } from "../members/index.ts";
import type { Memory, Observation } from "../observe/index.ts";
import type { CoordinationCluster } from "../plan/index.ts";
import { namesOf, namespaceOf } from "../render/index.ts";

/** Beyond this age, a plan is as unreliable as one of another operator. */
const PLAN_MS_MAX = 5_000;

/** The plan is no longer valid; the caller observes again. */
export class PlanExpired extends Error {
  override readonly name = "PlanExpired";
}

export interface PlanExecutionOptions {
  readonly client: KubeClient;
  readonly members: MemberClient;
  readonly monotonicMs: () => number;
  /** Whether this operator holds the Lease, and will hold it for at least the duration of a write. */
  readonly mayWrite: () => boolean;
}

/** Precondition: exactly the object version that the plan has seen. */
export function versionOf({ uid, resourceVersion }: { readonly uid: string; readonly resourceVersion: string }) {
  return { uid, resourceVersion };
}

/** @returns whether the error means that something has changed since the plan was made: nothing is wrong */
export function isStale(error: unknown): boolean {
  return (
    error instanceof PlanExpired ||
    isKubeError(error, "conflict", "exists", "missing") ||
    (error instanceof MemberError && error.isStale)
  );
}

/** The context of writes for one plan. */
export class PlanExecution {
  readonly observation: Observation;
  readonly memory: Memory;
  readonly #options: PlanExecutionOptions;
  readonly #plannedMs: number;

  constructor(options: PlanExecutionOptions, observation: Observation, memory: Memory) {
    this.#options = options;
    this.observation = observation;
    this.memory = memory;
    this.#plannedMs = options.monotonicMs();
  }

  get cluster(): CoordinationCluster {
    return this.observation.observed.cluster;
  }

  /**
   * Client for writes.
   * @throws PlanExpired
   */
  get client(): KubeClient {
    this.#require();
    return this.#options.client;
  }

  /**
   * Client for changes of members.
   * @throws PlanExpired
   */
  get members(): MemberClient {
    this.#require();
    return this.#options.members;
  }

  /**
   * Member to send changes to.
   * @throws PlanExpired if no member answered that knows a leader
   */
  get leader(): MemberAddress {
    const [first] = this.observation.askable;
    if (first === undefined) {
      throw new PlanExpired("no member is reachable");
    }
    return first;
  }

  reference(kind: Kind, name: string): Reference {
    return { kind, namespace: namespaceOf(this.cluster), name };
  }

  pod({ ordinal }: { readonly ordinal: number }): Reference {
    return this.reference("Pod", `${namesOf(this.cluster).set}-${ordinal}`);
  }

  claim({ ordinal }: { readonly ordinal: number }): Reference {
    return this.reference("PersistentVolumeClaim", `data-${namesOf(this.cluster).set}-${ordinal}`);
  }

  #require(): void {
    const { monotonicMs, mayWrite } = this.#options;
    if (monotonicMs() - this.#plannedMs > PLAN_MS_MAX) {
      throw new PlanExpired(`the plan is older than ${PLAN_MS_MAX} ms`);
    }
    if (!mayWrite()) {
      throw new PlanExpired("another operator may be active now");
    }
  }
}
