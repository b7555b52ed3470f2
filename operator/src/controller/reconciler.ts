/**
 * One pass over one cluster: observe, plan, do the upkeep and at most one step, write the status, and return when to
 * come again.
 *
 * A pass may end at any point, and two passes may run at once: each write names the version that it is based on, and
 * the next pass observes afresh. A pass rejects only if the API server does not answer. Every other failure goes into
 * the status, and the next pass follows soon.
 */
import {
  doStep,
  doUpkeep,
  FailureHistory,
  isRefusedEviction,
  isStale,
  PlanExecution,
  type PlanExecutionOptions,
  RestorePending,
  targetOf,
} from "../execute/index.ts";
import {
  type CachedReads,
  type EventContent,
  isKubeError,
  isRemembered,
  type KubeClient,
  type Reference,
} from "../kube/index.ts";
import {
  emptyMemory,
  type Memory,
  type Observation,
  type Observer,
  objectKey,
  ownerSecretName,
  preconditionOf,
  REPOSITORY,
  setReference,
  VERSION,
} from "../observe/index.ts";
import {
  type Blocker,
  budgetBlocker,
  type ClusterStatus,
  type CoordinationCluster,
  type Failure,
  outcomeOf,
  type Plan,
  plan,
  restoreWaitBlocker,
  type Step,
  type Upkeep,
} from "../plan/index.ts";
import { isWorthWriting, statusOf, statusOfFailedReconcile } from "../status/index.ts";
import { eventOfBlocked, eventOfFailure, eventOfRenewal, eventOfStep, eventOfUndone, eventsOfState } from "./events.ts";

/** Pause after a conflict with another write, so that passes do not spin. */
const STALE_MS = 200;
/** Pause after a failure that another observation does not explain. */
const FAILED_MS = 2_000;

/** Interval of reads from the API server itself while the plan waits for something. */
const BLOCKED_READ_INTERVAL_MS = 10_000;

/** Version and image that the operator writes into a specification that names none. */
export interface Defaults {
  readonly version: string;
  readonly repository: string;
}

export interface EventSink {
  readonly event: (cluster: CoordinationCluster, content: EventContent) => void;
  readonly onAction: (kind: string) => void;
  /** Called for failures that do not end the pass. */
  readonly onFailure: (cluster: CoordinationCluster, what: string, error: unknown) => void;
  /** The status after each pass. The plan is null if the pass could not observe the cluster. */
  readonly onStatus: (cluster: CoordinationCluster, status: ClusterStatus, plan: Plan | null) => void;
  /** The actions that fail now and are worth showing; called in every pass. */
  readonly onFailing: (cluster: CoordinationCluster, failures: readonly Failure[], now: number) => void;
  /** The cluster no longer exists. */
  readonly onGone: (namespace: string, name: string) => void;
}

export interface ReconcilerOptions {
  readonly client: KubeClient;
  readonly observer: Observer;
  readonly execution: PlanExecutionOptions;
  readonly defaults: Defaults;
  readonly sink: EventSink;
  /** Reads from the watches; null for an operator that asks the API server each time. */
  readonly cache: CachedReads | null;
}

interface ClusterMemory extends Memory {
  statusWrittenMs: number;
  /** The last reported reason of a waiting step; null if none was reported, or if it waits no longer. */
  lastBlockedNote: string | null;
  readonly failures: FailureHistory;
  /** When a pass last read from the API server itself. */
  freshReadMs: number;
  /** Whether the last pass left nothing to do and nothing to wait for. */
  isIdle: boolean;
  /** Whether the last pass failed only because the API server refuses a read; the cache retries that read. */
  isRefusalRemembered: boolean;
}

export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #memories = new Map<string, ClusterMemory>();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  /** An owned object has changed: the next pass reads the owned objects again. */
  invalidateOwnedObjects(namespace: string, name: string): void {
    const memory = this.#memories.get(`${namespace}/${name}`);
    if (memory !== undefined) {
      memory.ownedObjects = null;
    }
    // The changed object may be the sentinel of the owner's Secret, which no watch covers.
    this.#options.cache?.forget({ kind: "Secret", namespace, name: ownerSecretName({ metadata: { name } }) });
  }

  /**
   * @returns milliseconds until the next pass; null if the cluster is gone
   * @throws KubeError
   */
  async reconcile(namespace: string, name: string): Promise<number | null> {
    const { client, observer, execution: options, sink } = this.#options;
    const reference = { kind: "CoordinationCluster", namespace, name } as const;
    const quietMs = await this.#reconcileFromCache(reference);
    if (quietMs !== null) {
      return quietMs;
    }
    const cluster = await client.get<CoordinationCluster>(reference);
    if (cluster === null) {
      this.#memories.delete(`${namespace}/${name}`);
      sink.onGone(namespace, name);
      return null;
    }
    const memory = this.#memoryOf(namespace, name);
    memory.failures.begin();
    memory.isRefusalRemembered = false;
    if (cluster.spec.version === undefined || cluster.spec.image.repository === undefined) {
      return options.mayWrite() ? await this.#orReportFailure(cluster, memory, () => this.#pin(cluster)) : FAILED_MS;
    }
    const reads = this.#options.cache?.fresh ?? client;
    const observation = await this.#orReportFailure(cluster, memory, () => observer.observe(cluster, memory, reads));
    memory.freshReadMs = options.monotonicMs();
    const planned = plan(observation.observed);
    if (planned.upkeep.some(isOwning) && !(await this.#isStillThere(cluster))) {
      return STALE_MS;
    }
    const execution = new PlanExecution(options, observation, memory);
    const upkeepMs = await this.#doUpkeep(execution, planned.upkeep, memory.failures);
    const { pauseMs, blocker } = await this.#doStep(execution, planned.step, memory.failures);
    const outcome = outcomeOf(planned, blocker, memory.failures.shown(observation.observed.now));
    memory.isIdle = isIdle(planned) && outcome.blocker === null;
    const againMs = await this.#reportStatus(observation, outcome, memory);
    return Math.max(upkeepMs, pauseMs, againMs ?? planned.requeueMs);
  }

  /**
   * Whether the cluster still exists. An object may lack its owner because someone has deleted the cluster with
   * `orphan` since this pass began. An owner reference to a deleted cluster would delete the object, too.
   */
  async #isStillThere({ metadata }: CoordinationCluster): Promise<boolean> {
    const { name, namespace = "", uid } = metadata;
    const now = await this.#options.client.get<CoordinationCluster>({ kind: "CoordinationCluster", namespace, name });
    return now?.metadata.uid === uid && now?.metadata.deletionTimestamp === undefined;
  }

  /**
   * A pass that reads from the watches only. It finds out whether there is something to do, and writes the status.
   * Every other write needs a pass with fresh reads.
   *
   * @returns milliseconds until the next pass; null if there may be something to do
   */
  async #reconcileFromCache(reference: Reference): Promise<number | null> {
    const { cache, observer, execution } = this.#options;
    const { namespace, name } = reference;
    const memory = this.#memoryOf(namespace, name);
    if (!memory.failures.isEmpty && !memory.isRefusalRemembered) {
      return null;
    }
    const isRecent = memory.isIdle || execution.monotonicMs() - memory.freshReadMs < BLOCKED_READ_INTERVAL_MS;
    const cluster = isRecent ? await cache?.get<CoordinationCluster>(reference) : null;
    const isPinned = cluster?.spec.version !== undefined && cluster.spec.image.repository !== undefined;
    if (cache === null || !isPinned) {
      return null;
    }
    memory.failures.begin();
    memory.isRefusalRemembered = false;
    const observation = await this.#orReportFailure(cluster, memory, () => observer.observe(cluster, memory, cache));
    const planned = plan(observation.observed);
    if (!isIdle(planned) || (planned.blocker !== null && memory.isIdle)) {
      return null;
    }
    memory.isIdle = planned.blocker === null;
    return (await this.#reportStatus(observation, planned, memory)) ?? planned.requeueMs;
  }

  #memoryOf(namespace: string, name: string): ClusterMemory {
    const key = `${namespace}/${name}`;
    const memory = this.#memories.get(key) ?? {
      ...emptyMemory(),
      statusWrittenMs: Number.NEGATIVE_INFINITY,
      lastBlockedNote: null,
      failures: new FailureHistory(),
      freshReadMs: Number.NEGATIVE_INFINITY,
      isIdle: true,
      isRefusalRemembered: false,
    };
    this.#memories.set(key, memory);
    return memory;
  }

  /** Written once: otherwise the next operator version would change the image. */
  async #pin(cluster: CoordinationCluster): Promise<number> {
    const { client, defaults, sink } = this.#options;
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
      sink.onFailure(cluster, "pin", error);
      return STALE_MS;
    }
    return 0;
  }

  /** A failing action does not stop the others. */
  async #doUpkeep(execution: PlanExecution, upkeep: readonly Upkeep[], failures: FailureHistory): Promise<number> {
    const { sink } = this.#options;
    let pauseMs = 0;
    const undone: string[] = [];
    for (const action of upkeep) {
      try {
        await doUpkeep(execution, action);
        undone.push(...undoneBy(execution, action));
        sink.onAction(action.kind);
      } catch (error) {
        pauseMs = Math.max(pauseMs, this.#failed(execution.cluster, action.kind, error));
        const attempt = { gate: "Upkeep", reason: "UpkeepFailed", action: action.kind } as const;
        failures.add({ ...attempt, target: targetOf(execution, action) }, error, execution.observation.observed.now);
      }
    }
    if (undone.length > 0) {
      sink.event(execution.cluster, eventOfUndone(undone));
    }
    if (pauseMs === 0 && upkeep.length > 0 && execution.observation.renewed) {
      sink.event(execution.cluster, eventOfRenewal());
    }
    return pauseMs;
  }

  async #doStep(
    execution: PlanExecution,
    step: Step | null,
    failures: FailureHistory,
  ): Promise<{ pauseMs: number; blocker: Blocker | null }> {
    if (step === null) {
      return { pauseMs: 0, blocker: null };
    }
    const { sink } = this.#options;
    try {
      await doStep(execution, step.action);
      sink.onAction(step.action.kind);
      const event = eventOfStep(step);
      if (event !== null) {
        sink.event(execution.cluster, event);
      }
      return { pauseMs: 0, blocker: null };
    } catch (error) {
      if (isRefusedEviction(step.action, error)) {
        return { pauseMs: STALE_MS, blocker: budgetBlocker(step.rule, step.target) };
      }
      if (error instanceof RestorePending) {
        const told = execution.observation.observed.reports.get(0)?.alarms.at(-1);
        return { pauseMs: FAILED_MS, blocker: restoreWaitBlocker(step.target, error.failure, told) };
      }
      const attempt = { gate: step.rule, reason: "StepFailed", target: step.target } as const;
      failures.add({ ...attempt, action: step.action.kind }, error, execution.observation.observed.now);
      return { pauseMs: this.#failed(execution.cluster, step.action.kind, error), blocker: null };
    }
  }

  #failed(cluster: CoordinationCluster, what: string, error: unknown): number {
    this.#options.sink.onFailure(cluster, what, error);
    if (isKubeError(error, "throttled")) {
      return Math.max(FAILED_MS, error.retryAfterMs ?? 0);
    }
    return isStale(error) ? STALE_MS : FAILED_MS;
  }

  /** Rejects as the work does, and also writes the failure into the status. */
  async #orReportFailure<Result>(
    cluster: CoordinationCluster,
    memory: ClusterMemory,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      await this.#reportFailedReconcile(cluster, memory, error);
      throw error;
    }
  }

  /**
   * Writes the status after a pass that could not observe the cluster: the previous status, and why it is not newer.
   */
  async #reportFailedReconcile(cluster: CoordinationCluster, memory: ClusterMemory, error: unknown): Promise<void> {
    const { observer } = this.#options;
    const { now } = observer;
    memory.isRefusalRemembered = isRemembered(error);
    const attempt = { gate: "Observe", reason: "PassFailed", action: "observe" } as const;
    memory.failures.add({ ...attempt, target: cluster.metadata.name }, error, now);
    const [failure] = this.#reportFailures(cluster, memory, now);
    if (failure !== undefined) {
      const status = statusOfFailedReconcile(cluster, failure, now);
      await this.#writeStatus(cluster, status, memory);
      this.#options.sink.onStatus(cluster, status, null);
    }
  }

  #reportFailures(cluster: CoordinationCluster, { failures }: ClusterMemory, now: number): readonly Failure[] {
    const { sink } = this.#options;
    for (const failure of failures.unreported(now)) {
      sink.event(cluster, eventOfFailure(failure));
    }
    const shown = failures.shown(now);
    sink.onFailing(cluster, shown, now);
    return shown;
  }

  /** @returns milliseconds until the next pass if the status was not written; null if it was */
  async #reportStatus(
    { observed, surroundings }: Observation,
    planned: Plan,
    memory: ClusterMemory,
  ): Promise<number | null> {
    const { sink } = this.#options;
    const { cluster } = observed;
    const failures = this.#reportFailures(cluster, memory, observed.now);
    const status = statusOf(observed, planned, { ...surroundings, failures });
    for (const event of eventsOfState(cluster.status, status)) {
      sink.event(cluster, event);
    }
    const blocked = eventOfBlocked(status.blocked, observed.now);
    if (blocked !== null && blocked.note !== memory.lastBlockedNote) {
      sink.event(cluster, blocked);
    }
    memory.lastBlockedNote = blocked?.note ?? null;
    const againMs = await this.#writeStatus(cluster, status, memory);
    // An alert points to the status, so it waits for the next pass if that pass writes the status. It does not wait for
    // an API server that refuses the status.
    if (againMs !== STALE_MS) {
      sink.onStatus(cluster, status, planned);
    }
    return againMs;
  }

  /** @returns milliseconds until the next try; null if nothing is left to write */
  async #writeStatus(
    cluster: CoordinationCluster,
    status: ClusterStatus,
    memory: ClusterMemory,
  ): Promise<number | null> {
    const { client, execution } = this.#options;
    const nowMs = execution.monotonicMs();
    if (!isWorthWriting(cluster.status, status, nowMs - memory.statusWrittenMs)) {
      return null;
    }
    if (!execution.mayWrite()) {
      return FAILED_MS;
    }
    const { name, namespace = "" } = cluster.metadata;
    try {
      await client.patchStatus({ kind: "CoordinationCluster", namespace, name }, preconditionOf(cluster), status);
      memory.statusWrittenMs = nowMs;
      return null;
    } catch (error) {
      return this.#failed(cluster, "status", error);
    }
  }
}

/** Whether an action may write owner references. */
function isOwning({ kind }: Upkeep): boolean {
  return kind === "apply" || kind === "budget";
}

function undoneBy({ observation }: PlanExecution, action: Upkeep): string[] {
  const desiredWrite = action.kind === "apply" ? observation.desiredWrites.get(objectKey(action.object)) : undefined;
  return desiredWrite !== undefined && "undoes" in desiredWrite && desiredWrite.undoes !== null
    ? [desiredWrite.undoes]
    : [];
}

function isIdle({ step, upkeep }: Plan): boolean {
  return step === null && upkeep.length === 0;
}
