/**
 * Renewals of sessions, collected: a member writes those of up to a tenth of a second together, so that ten thousand
 * sessions cost a few entries a second instead of thousands.
 */

import type { Scheduler } from "../../replica/index.ts";
import type { CoordinationError, Outcome, Renewal, RenewSessions, Result } from "../../state/index.ts";
import type { HostReplica } from "./host.ts";

type Renewed = Extract<Result, { readonly kind: RenewSessions["kind"] }>;

/**
 * What became of one call: for each of its sessions the remaining time in milliseconds, 0 = there is none; null = the
 * caller may not renew any. With the revision.
 */
export type RenewalDone = (
  error: CoordinationError | null,
  remainingMs: readonly number[] | null,
  revision: number,
) => void;

interface Waiting {
  readonly renewal: Renewal;
  readonly deadlineMs: number;
  readonly done: RenewalDone;
}

/** A client renews several times within a time to live, so it does not notice this. */
const COLLECT_MS = 100;
/** Sessions of one entry: about two milliseconds of work for each member. One call has at most as many. */
export const RENEWED_MAX = 500;

export class SessionRenewals {
  readonly #scheduler: Pick<Scheduler, "every">;
  #replica: HostReplica | null = null;
  #waiting: Waiting[] = [];
  #sessions = 0;
  #stop: (() => void) | null = null;

  constructor(scheduler: Pick<Scheduler, "every">) {
    this.#scheduler = scheduler;
  }

  /** @param renewal of at most RENEWED_MAX sessions. */
  add(replica: HostReplica, renewal: Renewal, deadlineMs: number, done: RenewalDone): void {
    const count = renewal.sessionIds.length;
    if (this.#replica !== replica || this.#sessions + count > RENEWED_MAX) {
      this.#send();
    }
    this.#replica = replica;
    this.#waiting.push({ renewal, deadlineMs, done });
    this.#sessions += count;
    this.#stop ??= this.#scheduler.every(COLLECT_MS, () => this.#send());
  }

  #send(): void {
    const [replica, waiting] = [this.#replica, this.#waiting];
    this.#stop?.();
    this.#stop = null;
    this.#waiting = [];
    this.#sessions = 0;
    if (replica === null || waiting.length === 0) {
      return;
    }
    const operation = { kind: "renew-sessions", renewals: waiting.map(({ renewal }) => renewal) } as const;
    // Each call ends at its own deadline by itself.
    const deadlineMs = Math.max(...waiting.map((one) => one.deadlineMs));
    replica.proposeClusterOperation(operation, deadlineMs, (error, outcome) => answer(waiting, error, outcome));
  }
}

function answer(waiting: readonly Waiting[], error: CoordinationError | null, outcome: Outcome | null): void {
  if (error !== null || outcome === null) {
    for (const { done } of waiting) {
      done(error, null, 0);
    }
    return;
  }
  const { renewed, tickMs, revision } = outcome.answer as Renewed;
  for (const [at, { done }] of waiting.entries()) {
    const sessions = renewed[at] ?? null;
    done(
      null,
      sessions === null
        ? null
        : sessions.map(({ deadlineMs }) => (deadlineMs === 0 ? 0 : Math.max(1, deadlineMs - tickMs))),
      revision,
    );
  }
}
