/** What every write of a plan has in common: it is refused once the plan is old, or another operator may work. */
import { isKubeError, type Kind, type KubeClient, type Reference } from "../kube/index.ts";
import { type MemberAddress, type MemberClient, MemberError } from "../members/index.ts";
import type { Memory, Observation } from "../observe/index.ts";
import type { CoordinationCluster } from "../plan/index.ts";
import { namesOf, namespaceOf } from "../render/index.ts";

/** What was seen is older by then, and as little worth as what another operator saw. */
const PLAN_MS_MAX = 5_000;

/** A plan that is not to be followed any more: one looks again. */
export class PlanExpired extends Error {
  override readonly name = "PlanExpired";
}

export interface WritingOptions {
  readonly client: KubeClient;
  readonly members: MemberClient;
  readonly monotonicMs: () => number;
  /** Whether this operator is the one that works, and will be for as long as a write takes. */
  readonly mayWrite: () => boolean;
}

/** The object that the plan has seen, and no other. */
export function versionOf({ uid, resourceVersion }: { readonly uid: string; readonly resourceVersion: string }) {
  return { uid, resourceVersion };
}

/** @returns whether an error says that something has changed since the plan was made: nothing is wrong */
export function isStale(error: unknown): boolean {
  return (
    error instanceof PlanExpired ||
    isKubeError(error, "conflict", "exists", "missing") ||
    (error instanceof MemberError && error.isStale)
  );
}

/** Of one plan. */
export class Writing {
  readonly observation: Observation;
  readonly memory: Memory;
  readonly #options: WritingOptions;
  readonly #plannedMs: number;

  constructor(options: WritingOptions, observation: Observation, memory: Memory) {
    this.#options = options;
    this.observation = observation;
    this.memory = memory;
    this.#plannedMs = options.monotonicMs();
  }

  get cluster(): CoordinationCluster {
    return this.observation.observed.cluster;
  }

  /** To write with, now. Raises PlanExpired. */
  get client(): KubeClient {
    this.#require();
    return this.#options.client;
  }

  /** To change the members with, now. Raises PlanExpired. */
  get members(): MemberClient {
    this.#require();
    return this.#options.members;
  }

  /** Whom to ask for a change. Raises PlanExpired if no member answered that has one. */
  get leader(): MemberAddress {
    const [first] = this.observation.askable;
    if (first === undefined) {
      throw new PlanExpired("no member can be asked");
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
      throw new PlanExpired("another operator may work by now");
    }
  }
}
