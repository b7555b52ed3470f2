/**
 * One pass over one cluster: observe, plan, do upkeep and at most one step, tell the status, say when to come again.
 *
 * A pass may be cut off anywhere, and two may meet: each write names what it came from, and the next pass sees what is.
 * Only what the API server must be asked for rejects; whatever else fails is told, and the next pass is soon.
 */
import { doStep, doUpkeep, isRefusedEviction, isStale, Writing, type WritingOptions } from "../execute/index.ts";
import { type EventContent, isKubeError, type KubeClient } from "../kube/index.ts";
import {
  emptyMemory,
  type Memory,
  type Observation,
  type Observer,
  preconditionOf,
  REPOSITORY,
  setReference,
  VERSION,
} from "../observe/index.ts";
import {
  budgetHold,
  type CoordinationCluster,
  type Hold,
  type Plan,
  plan,
  type Step,
  type Upkeep,
} from "../plan/index.ts";
import { isWorthWriting, statusOf } from "../status/index.ts";
import { eventOfBlocked, eventOfRenewal, eventOfStep, eventsOfState } from "./events.ts";

/** Somebody was faster: look again, but not in a circle without a pause. */
const STALE_MS = 200;
/** Something did not work that the next look does not explain. */
const FAILED_MS = 2_000;

/** What is pinned into a specification that names none. */
export interface Defaults {
  readonly version: string;
  readonly repository: string;
}

export interface Audience {
  readonly event: (cluster: CoordinationCluster, content: EventContent) => void;
  readonly onAction: (kind: string) => void;
  /** What did not work, and what goes on all the same. */
  readonly onFailure: (cluster: CoordinationCluster, what: string, error: unknown) => void;
  readonly onPass: (cluster: CoordinationCluster, plan: Plan, quorumLost: boolean) => void;
  /** The cluster is not there any more. */
  readonly onGone: (namespace: string, name: string) => void;
}

export interface ReconcilerOptions {
  readonly client: KubeClient;
  readonly observer: Observer;
  readonly writing: WritingOptions;
  readonly defaults: Defaults;
  readonly audience: Audience;
}

interface ClusterMemory extends Memory {
  statusWrittenMs: number;
  /** What was told last of a step that waits; null if nothing was, or if it waits no more. */
  blockedTold: string | null;
}

export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #memories = new Map<string, ClusterMemory>();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  /** Something around the pods has changed: the next pass looks at it. */
  forgetLook(namespace: string, name: string): void {
    const memory = this.#memories.get(`${namespace}/${name}`);
    if (memory !== undefined) {
      memory.support = null;
    }
  }

  /** @returns when to come again, in milliseconds; null if the cluster is gone. Rejects with KubeError. */
  async pass(namespace: string, name: string): Promise<number | null> {
    const { client, observer, writing: options, audience } = this.#options;
    const reference = { kind: "CoordinationCluster", namespace, name } as const;
    const cluster = await client.get<CoordinationCluster>(reference);
    if (cluster === null) {
      this.#memories.delete(`${namespace}/${name}`);
      audience.onGone(namespace, name);
      return null;
    }
    const memory = this.#memoryOf(namespace, name);
    if (cluster.spec.version === undefined || cluster.spec.image.repository === undefined) {
      return options.mayWrite() ? await this.#pin(cluster) : FAILED_MS;
    }
    const observation = await observer.observe(cluster, memory);
    const planned = plan(observation.observed);
    const writing = new Writing(options, observation, memory);
    const upkeepMs = await this.#doUpkeep(writing, planned.upkeep);
    const { pauseMs, hold } = await this.#doStep(writing, planned.step);
    await this.#tellStatus(observation, { ...planned, hold: planned.hold ?? hold }, memory);
    return Math.max(upkeepMs, pauseMs, planned.nextPassMs);
  }

  #memoryOf(namespace: string, name: string): ClusterMemory {
    const key = `${namespace}/${name}`;
    const memory = this.#memories.get(key) ?? {
      ...emptyMemory(),
      statusWrittenMs: Number.NEGATIVE_INFINITY,
      blockedTold: null,
    };
    this.#memories.set(key, memory);
    return memory;
  }

  /** Once: without it, the next operator would change the image. */
  async #pin(cluster: CoordinationCluster): Promise<number> {
    const { client, defaults, audience } = this.#options;
    const set = await client.get<{ metadata?: { annotations?: Record<string, string> } }>(setReference(cluster));
    const noted = set?.metadata?.annotations ?? {};
    const spec = {
      version: cluster.spec.version ?? noted[VERSION] ?? defaults.version,
      image: { repository: cluster.spec.image.repository ?? noted[REPOSITORY] ?? defaults.repository },
    };
    const { name, namespace = "" } = cluster.metadata;
    try {
      await client.patch({ kind: "CoordinationCluster", namespace, name }, preconditionOf(cluster), { spec });
    } catch (error) {
      if (!isStale(error)) {
        throw error;
      }
      audience.onFailure(cluster, "pin", error);
      return STALE_MS;
    }
    return 0;
  }

  /** One that fails holds up no other. */
  async #doUpkeep(writing: Writing, upkeep: readonly Upkeep[]): Promise<number> {
    const { audience } = this.#options;
    let pauseMs = 0;
    for (const action of upkeep) {
      try {
        await doUpkeep(writing, action);
        audience.onAction(action.kind);
      } catch (error) {
        pauseMs = Math.max(pauseMs, this.#failed(writing.cluster, action.kind, error));
      }
    }
    if (pauseMs === 0 && upkeep.length > 0 && writing.observation.renewed) {
      audience.event(writing.cluster, eventOfRenewal());
    }
    return pauseMs;
  }

  async #doStep(writing: Writing, step: Step | null): Promise<{ pauseMs: number; hold: Hold | null }> {
    if (step === null) {
      return { pauseMs: 0, hold: null };
    }
    const { audience } = this.#options;
    try {
      await doStep(writing, step.action);
      audience.onAction(step.action.kind);
      const event = eventOfStep(step);
      if (event !== null) {
        audience.event(writing.cluster, event);
      }
      return { pauseMs: 0, hold: null };
    } catch (error) {
      return isRefusedEviction(step.action, error)
        ? { pauseMs: STALE_MS, hold: budgetHold(step.rule, step.target) }
        : { pauseMs: this.#failed(writing.cluster, step.action.kind, error), hold: null };
    }
  }

  #failed(cluster: CoordinationCluster, what: string, error: unknown): number {
    this.#options.audience.onFailure(cluster, what, error);
    if (isKubeError(error, "throttled")) {
      return Math.max(FAILED_MS, error.retryAfterMs ?? 0);
    }
    return isStale(error) ? STALE_MS : FAILED_MS;
  }

  async #tellStatus({ observed, surroundings }: Observation, planned: Plan, memory: ClusterMemory): Promise<void> {
    const { client, writing, audience } = this.#options;
    const { cluster } = observed;
    const status = statusOf(observed, planned, surroundings);
    for (const event of eventsOfState(cluster.status, status)) {
      audience.event(cluster, event);
    }
    const blocked = eventOfBlocked(status.blocked, observed.now);
    if (blocked !== null && blocked.note !== memory.blockedTold) {
      audience.event(cluster, blocked);
    }
    memory.blockedTold = blocked?.note ?? null;
    const isLost = status.conditions?.some(({ type, status: is }) => type === "QuorumLost" && is === "True") === true;
    audience.onPass(cluster, planned, isLost);
    const nowMs = writing.monotonicMs();
    if (!writing.mayWrite() || !isWorthWriting(cluster.status, status, nowMs - memory.statusWrittenMs)) {
      return;
    }
    const { name, namespace = "" } = cluster.metadata;
    try {
      await client.patchStatus({ kind: "CoordinationCluster", namespace, name }, preconditionOf(cluster), status);
      memory.statusWrittenMs = nowMs;
    } catch (error) {
      this.#failed(cluster, "status", error);
    }
  }
}
