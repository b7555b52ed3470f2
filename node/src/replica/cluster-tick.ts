/**
 * The cluster's tick: milliseconds by which TTLs and windows run (S20, S21).
 *
 * It goes on from the greatest tick that was logged, by the leader's monotonic clock, and stands still while nobody
 * leads. So it is never ahead of elapsed time: what expires by it is never early, and may be late.
 *
 * What a leader has told beside the log, or this member has counted while it led, is gone on from only if nobody has
 * led since who may not have known it: such a leader goes on from less, and what it logged lasts from there.
 */

import type { Clock } from "./clock.ts";

export class ClusterTick {
  readonly #clock: Clock;
  #loggedMs: number;
  /** The greatest tick beside the log that is known of a leader, and its term. */
  #told = { term: 0, tickMs: 0 };
  /** Term of the last entry in the log of this member, as long as it does not lead. */
  #lastTerm = 0;
  /** Where the clock was started, when, and in which term; null while not leading. */
  #running: { baseMs: number; readonly startedMs: number; readonly term: number } | null = null;

  constructor(clock: Clock, loggedMs: number) {
    this.#clock = clock;
    this.#loggedMs = loggedMs;
  }

  /** The greatest tick that this member may go on from, in whole milliseconds. */
  get nowMs(): number {
    if (this.#running === null) {
      return this.#told.term >= this.#lastTerm ? Math.max(this.#loggedMs, this.#told.tickMs) : this.#loggedMs;
    }
    const { baseMs, startedMs } = this.#running;
    return baseMs + Math.floor(this.#clock.monotonicMs() - startedMs);
  }

  /** A tick found in the log. */
  observe(loggedMs: number): void {
    this.#loggedMs = Math.max(this.#loggedMs, loggedMs);
    if (this.#running !== null) {
      this.#running.baseMs += Math.max(0, loggedMs - this.nowMs);
    }
  }

  /** The leader of the term has told its tick. */
  hear(term: number, tickMs: number): void {
    if (term > this.#told.term || (term === this.#told.term && tickMs > this.#told.tickMs)) {
      this.#told = { term, tickMs };
    }
  }

  /** This member does not lead, and its log ends with an entry of this term: a leader of that term was there. */
  follow(lastTerm: number): void {
    this.#lastTerm = lastTerm;
  }

  /** This member leads the term now, so time goes on; if it led that already, nothing changes. */
  start(term: number): void {
    if (this.#running?.term !== term) {
      this.stop();
    }
    this.#running ??= { baseMs: this.nowMs, startedMs: this.#clock.monotonicMs(), term };
  }

  /** This member no longer leads. */
  stop(): void {
    if (this.#running !== null) {
      this.hear(this.#running.term, this.nowMs);
      this.#running = null;
    }
  }
}
