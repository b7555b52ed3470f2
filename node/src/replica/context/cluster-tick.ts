/**
 * The cluster's tick: the time in milliseconds that TTLs and windows use (S20, S21).
 *
 * It continues from the greatest logged tick, by the leader's monotonic clock, and stands still while there is no
 * leader. So it is never ahead of elapsed time: expiry is never early, and may be late.
 *
 * A member also knows ticks that are not in the log: those that a leader sent, and those that it counted while it led.
 * It continues from such a tick only if no later leader may have missed it. A leader that missed it continues from a
 * smaller tick, and what that leader logged counts from there.
 */

import type { Clock } from "./clock.ts";

export class ClusterTick {
  readonly #clock: Clock;
  #loggedMs: number;
  /** The greatest tick known from a leader outside of the log, and the leader's term. */
  #received = { term: 0, tickMs: 0 };
  /** Term of the last entry in this member's log, while it does not lead. */
  #lastTerm = 0;
  /** The tick at which the clock was started, when, and in which term; null while this member does not lead. */
  #running: { baseMs: number; readonly startedMs: number; readonly term: number } | null = null;

  constructor(clock: Clock, loggedMs: number) {
    this.#clock = clock;
    this.#loggedMs = loggedMs;
  }

  /** The greatest tick that this member may continue from, in whole milliseconds. */
  get nowMs(): number {
    if (this.#running === null) {
      return this.#received.term >= this.#lastTerm ? Math.max(this.#loggedMs, this.#received.tickMs) : this.#loggedMs;
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

  /** The leader of the term has sent its tick. */
  onLeaderTick(term: number, tickMs: number): void {
    if (term > this.#received.term || (term === this.#received.term && tickMs > this.#received.tickMs)) {
      this.#received = { term, tickMs };
    }
  }

  /** This member does not lead, and its log ends with an entry of this term: that term had a leader. */
  follow(lastTerm: number): void {
    this.#lastTerm = lastTerm;
  }

  /** This member leads the term now, so the tick advances. Calling it again for the same term changes nothing. */
  start(term: number): void {
    if (this.#running?.term !== term) {
      this.stop();
    }
    this.#running ??= { baseMs: this.nowMs, startedMs: this.#clock.monotonicMs(), term };
  }

  /** This member no longer leads. */
  stop(): void {
    if (this.#running !== null) {
      this.onLeaderTick(this.#running.term, this.nowMs);
      this.#running = null;
    }
  }
}
