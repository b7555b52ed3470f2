/**
 * Who waits for the result of an attempt to log a command.
 *
 * Every attempt has a sequence number that this process never uses twice; the entry carries it, and applying an entry
 * with a waiting attempt's origin answers that waiter and nobody else (P56). A call without a leader is held for a
 * bounded time and then refused as certainly not executed; once its entry was handed to the log, only applying it or
 * the deadline answers.
 */

import { CoordinationError, type Outcome } from "../state/index.ts";

export type ProposalDone = (error: CoordinationError | null, outcome: Outcome | null) => void;

export interface Waiter {
  readonly seq: number;
  readonly deadlineMs: number;
  /** Until when the call may be held back without being handed to the log. */
  readonly holdUntilMs: number;
  readonly done: ProposalDone;
  /** Whether the attempt was handed to the log, so that its outcome is unknown until it is applied. */
  handedOut: boolean;
}

/** A member without a usable leader holds a call for at most this long (S36). */
const HOLD_MS_MAX = 3_000;
/** And never into the last share of its deadline, which is at least this long (S36). */
const RESERVE_SHARE = 0.1;
const RESERVE_MS_MIN = 50;

/** Until when a call that arrives now may be held back. */
export function holdUntil(nowMs: number, deadlineMs: number): number {
  const reserveMs = Math.max(RESERVE_MS_MIN, (deadlineMs - nowMs) * RESERVE_SHARE);
  return Math.min(nowMs + HOLD_MS_MAX, deadlineMs - reserveMs);
}

export class Waiters {
  readonly #bySeq = new Map<number, Waiter>();
  #seq = 0;

  get size(): number {
    return this.#bySeq.size;
  }

  add(nowMs: number, deadlineMs: number, done: ProposalDone): Waiter {
    this.#seq++;
    const holdUntilMs = holdUntil(nowMs, deadlineMs);
    const waiter: Waiter = { seq: this.#seq, deadlineMs, holdUntilMs, done, handedOut: false };
    this.#bySeq.set(waiter.seq, waiter);
    return waiter;
  }

  /** Whether the attempt is still waited for. */
  has(waiter: Waiter): boolean {
    return this.#bySeq.has(waiter.seq);
  }

  /** Answers the waiter of an applied attempt, if it still waits. */
  answer(seq: number, outcome: Outcome | null): void {
    const waiter = this.#bySeq.get(seq);
    if (waiter !== undefined) {
      this.#bySeq.delete(seq);
      waiter.done(null, outcome);
    }
  }

  refuse(waiter: Waiter, error: CoordinationError): void {
    if (this.#bySeq.delete(waiter.seq)) {
      waiter.done(error, null);
    }
  }

  /**
   * Refuses whoever has waited too long. `nextMs` is when this is called again: who may not be held until then is
   * refused now. `heldReason` says why calls are held back at the moment.
   */
  expire(nowMs: number, nextMs: number, heldReason: () => CoordinationError): void {
    for (const waiter of this.#bySeq.values()) {
      if (waiter.handedOut && waiter.deadlineMs <= nowMs) {
        this.refuse(waiter, deadlineError());
      } else if (!waiter.handedOut && waiter.holdUntilMs < nextMs) {
        this.refuse(waiter, heldReason());
      }
    }
  }

  /** Ends all waiting: this process stops. */
  refuseAll(): void {
    for (const waiter of this.#bySeq.values()) {
      const outcome = waiter.handedOut ? "unknown" : "not-executed";
      this.refuse(waiter, new CoordinationError("SHUTTING_DOWN", "this member is shutting down", { outcome }));
    }
  }
}

/** The deadline ended while the outcome was open (S12). */
export function deadlineError(): CoordinationError {
  return new CoordinationError(
    "DEADLINE",
    "the deadline ended before the result was known; sending the same request-id again returns it",
    { outcome: "unknown" },
  );
}
