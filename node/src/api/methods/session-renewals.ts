/**
 * Renewals of sessions, collected: a member writes those of up to a tenth of a second together, so that ten thousand
 * sessions cost a few entries a second instead of thousands.
 */

import { RETRY_AFTER_DETAIL } from "../../access/index.ts";
import type { Scheduler } from "../../replica/index.ts";
import { CoordinationError, type Outcome, type Renewal, type RenewSessions, type Result } from "../../state/index.ts";
import type { HostReplica } from "./host.ts";
import { remainingMs } from "./remaining-time.ts";

type Renewed = Extract<Result, { readonly kind: RenewSessions["kind"] }>;

/**
 * What became of one call: for each of its sessions the remaining time in milliseconds, 0 = there is none; null = the
 * caller may not renew any. With the revision.
 */
export type RenewalDone = (
  error: CoordinationError | null,
  remaining: readonly bigint[] | null,
  revision: number,
) => void;

interface Waiting {
  readonly renewal: Renewal;
  readonly deadlineMs: number;
  readonly done: RenewalDone;
}

/** A client renews several times within a time to live, so it does not notice this. */
const COLLECT_MS = 100;
/**
 * Sessions of one entry: about two milliseconds of work for each member. One call has at most as many, and so have all
 * calls of one user within the time in which renewals are collected: renewals have no other limit.
 */
export const RENEWED_MAX = 500;

export class SessionRenewals {
  readonly #scheduler: Pick<Scheduler, "every">;
  #replica: HostReplica | null = null;
  #waiting: Waiting[] = [];
  #sessions = 0;
  /** Sessions by user, since the timer last called. */
  readonly #renewed = new Map<string, number>();
  #stop: (() => void) | null = null;

  constructor(scheduler: Pick<Scheduler, "every">) {
    this.#scheduler = scheduler;
  }

  /**
   * Refuses with RATE_LIMITED what is beyond the share of the user.
   *
   * @param renewal of at most RENEWED_MAX sessions.
   */
  add(replica: HostReplica, renewal: Renewal, deadlineMs: number, done: RenewalDone): void {
    const count = renewal.sessionIds.length;
    const { subject } = renewal.principal;
    const renewed = (this.#renewed.get(subject) ?? 0) + count;
    if (renewed > RENEWED_MAX) {
      done(tooMany(), null, 0);
      return;
    }
    this.#renewed.set(subject, renewed);
    if (this.#replica !== replica || this.#sessions + count > RENEWED_MAX) {
      this.#send();
    }
    this.#replica = replica;
    this.#waiting.push({ renewal, deadlineMs, done });
    this.#sessions += count;
    this.#stop ??= this.#scheduler.every(COLLECT_MS, () => this.#onTime());
  }

  /** The timer goes on as long as renewals come. */
  #onTime(): void {
    if (this.#renewed.size === 0) {
      this.#stop?.();
      this.#stop = null;
    }
    this.#renewed.clear();
    this.#send();
  }

  #send(): void {
    const [replica, waiting] = [this.#replica, this.#waiting];
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

function tooMany(): CoordinationError {
  const details = new Map([[RETRY_AFTER_DETAIL, String(COLLECT_MS)]]);
  const message = `more than ${RENEWED_MAX} sessions of one user in ${COLLECT_MS} ms`;
  return new CoordinationError("RATE_LIMITED", message, { details });
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
    const remaining = renewed[at]?.map(({ deadlineMs }) => remainingMs(deadlineMs, tickMs)) ?? null;
    done(null, remaining, revision);
  }
}
