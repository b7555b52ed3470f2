/**
 * Writes the member's role as a label on its pod, so that a Service can route to the leader.
 *
 * The label `quoin.dev/role` is written with the term of the role, and only over a label that is not of a later term. A
 * new leader first writes its term on the pods of all other members, which removes the label of a former leader. A
 * former leader that has read its own pod before cannot write it any more: the pod has changed, and a second read shows
 * the later term. So for a moment no pod has the label of the leader, and never do two. Consensus does not depend on
 * any of this.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { type LabelledPod, type PodClient, PodClientError } from "./pod-client.ts";

export type PodRole = "leader" | "follower" | "learner" | "none";

/** The role of a member. */
export interface RoleReport {
  /** `leader` only once an entry of its term is committed. */
  readonly role: PodRole;
  readonly term: number;
  /** The pods of all other members of the configuration, by name, with their role if they do not lead. */
  readonly others: () => ReadonlyMap<string, "follower" | "learner">;
}

export interface PodLabelOptions {
  /** Name of this member's pod. */
  readonly pod: string;
  readonly pods: Pick<PodClient, "read" | "label">;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
  /** Resolves after this many milliseconds; rejects when the signal aborts. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Interval of checks of a correct label, in milliseconds: another client may have changed it. */
const REFRESH_MS = 30_000;
/** Delay between two attempts, in milliseconds, doubled from the first to the last. */
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 2_000;

export class PodLabel {
  readonly #options: PodLabelOptions;
  readonly #pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly #stopping = new AbortController();
  #report: RoleReport | null = null;
  /** Ends the work for an earlier report. */
  #superseding = new AbortController();
  #isWorking = false;
  #problem: string | null = null;

  constructor(options: PodLabelOptions) {
    this.#options = options;
    this.#pause = options.pause ?? ((ms, signal) => sleep(ms, undefined, { signal }));
  }

  /** The caller reports often. It acts if the role differs from the last one, or if the term of a leader does. */
  update(report: RoleReport): void {
    if (this.#stopping.signal.aborted) {
      return;
    }
    const last = this.#report;
    const term = Math.max(report.term, last?.term ?? 0);
    this.#report = { ...report, term };
    if (last === null || last.role !== report.role || (report.role === "leader" && last.term !== term)) {
      this.#superseding.abort();
      this.#superseding = new AbortController();
      if (!this.#isWorking) {
        this.#isWorking = true;
        void this.#work();
      }
    }
  }

  /** Ends all calls. The label stays as it is. */
  stop(): void {
    this.#stopping.abort();
  }

  async #work(): Promise<void> {
    let retryMs = RETRY_MS_MIN;
    while (!this.#stopping.signal.aborted) {
      const superseded = this.#superseding.signal;
      const isDone = await this.#attempt(superseded);
      await this.#waitFor(isDone ? REFRESH_MS : retryMs, superseded);
      retryMs = isDone || superseded.aborted ? RETRY_MS_MIN : Math.min(2 * retryMs, RETRY_MS_MAX);
    }
  }

  async #waitFor(ms: number, superseded: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([this.#stopping.signal, superseded]);
    if (signal.aborted) {
      return;
    }
    try {
      await this.#pause(ms, signal);
    } catch (error) {
      if (!signal.aborted) {
        throw error;
      }
    }
  }

  /** Returns whether all labels are correct, or of a later term. */
  async #attempt(superseded: AbortSignal): Promise<boolean> {
    const report = this.#report;
    if (report === null) {
      return true;
    }
    try {
      await this.#applyRole(report, superseded);
      this.#problem = null;
      return true;
    } catch (error) {
      if (!(error instanceof PodClientError)) {
        throw error;
      }
      if (!error.isConflict && !superseded.aborted && !this.#stopping.signal.aborted) {
        this.#note(error.message);
      }
      return false;
    }
  }

  async #applyRole({ role, term, others }: RoleReport, superseded: AbortSignal): Promise<void> {
    const { pod: own, log } = this.#options;
    if (role === "leader") {
      const rivals = await Promise.all(
        [...others()].map(([name, its]) => this.#writeTerm(name, its, term, superseded)),
      );
      if (rivals.includes(true)) {
        return;
      }
    }
    const pod = await this.#read(own);
    if (pod === null || (pod.term ?? 0) > term || (pod.role === role && pod.term === term)) {
      return;
    }
    await this.#label(own, pod, role, term, superseded);
    log.info({ role, term }, "the pod is labelled");
  }

  /** Writes this leader's term on the pod of another member. Returns whether that pod is the leader of a later term. */
  async #writeTerm(name: string, role: PodRole, term: number, superseded: AbortSignal): Promise<boolean> {
    const pod = await this.#read(name);
    if (pod === null) {
      return false;
    }
    const isLabelled = pod.role === "leader";
    const podTerm = pod.term ?? 0;
    if (podTerm < term || (podTerm === term && isLabelled)) {
      await this.#label(name, pod, role, term, superseded);
      return false;
    }
    return podTerm > term && isLabelled;
  }

  #read(name: string): Promise<LabelledPod | null> {
    return this.#options.pods.read(name, this.#stopping.signal);
  }

  /** Does not write for an outdated report. */
  async #label(name: string, pod: LabelledPod, role: PodRole, term: number, superseded: AbortSignal): Promise<void> {
    if (superseded.aborted) {
      throw new PodClientError("the role of the member has changed in the meantime");
    }
    const { resourceVersion } = pod;
    await this.#options.pods.label(name, { resourceVersion, role, term }, this.#stopping.signal);
  }

  #note(problem: string): void {
    if (problem !== this.#problem) {
      this.#problem = problem;
      this.#options.log.warn({ problem }, "the pod cannot be labelled; the member retries");
    }
  }
}
