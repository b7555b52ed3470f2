/**
 * The cluster's tick: milliseconds by which TTLs and windows run (S20, S21).
 *
 * It goes on from the greatest tick that was logged, by the leader's monotonic clock, and stands still while nobody
 * leads. So it is never ahead of elapsed time: what expires by it is never early, and may be late.
 */

import type { Clock } from "./clock.ts";

export class ClusterTick {
  readonly #clock: Clock;
  #baseMs: number;
  /** When the clock was started from the base; null while not leading. */
  #startedMs: number | null = null;

  constructor(clock: Clock, loggedMs: number) {
    this.#clock = clock;
    this.#baseMs = loggedMs;
  }

  /** The greatest tick that this member knows, in whole milliseconds. */
  get nowMs(): number {
    if (this.#startedMs === null) {
      return this.#baseMs;
    }
    return this.#baseMs + Math.floor(this.#clock.monotonicMs() - this.#startedMs);
  }

  /** A tick found in the log. */
  observe(loggedMs: number): void {
    const nowMs = this.nowMs;
    if (loggedMs > nowMs) {
      this.#baseMs += loggedMs - nowMs;
    }
  }

  /** This member leads now, so time goes on; if it led already, nothing changes. */
  start(): void {
    this.#startedMs ??= this.#clock.monotonicMs();
  }

  /** This member no longer leads. */
  stop(): void {
    this.#baseMs = this.nowMs;
    this.#startedMs = null;
  }
}
