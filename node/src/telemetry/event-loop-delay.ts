/**
 * How late the event loop of this process is, and was at most: heartbeats, timers and requests wait that long.
 *
 * A timer beats at a fixed interval. What it is late, something has kept the loop busy: a stall is seen when it is over,
 * or when it is asked for, and is told once. Work of other threads is not seen.
 */

import { Durations, SHORT_BOUNDS } from "./durations.ts";

/**
 * How often `beat` is to be called, in milliseconds. A delay is understated by this much at most, which is little beside
 * those that matter; an idle member should not wake up more often for it.
 */
export const BEAT_INTERVAL_MS = 50;

export class EventLoopDelay {
  /** Of each beat, as far as it was late. */
  readonly delays = new Durations(SHORT_BOUNDS);
  readonly #monotonicMs: () => number;
  /** When the next beat is due. */
  #dueMs: number;
  #largestMs = 0;

  /** @param monotonicMs milliseconds that only grow, with fractions. */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
    this.#dueMs = monotonicMs() + BEAT_INTERVAL_MS;
  }

  /** The timer has come. */
  beat(): void {
    const nowMs = this.#monotonicMs();
    this.#notice(nowMs);
    this.delays.addMs(Math.max(0, nowMs - this.#dueMs));
    this.#dueMs = nowMs + BEAT_INTERVAL_MS;
  }

  /** The largest delay since this was called last, in milliseconds. */
  takeLargestMs(): number {
    const nowMs = this.#monotonicMs();
    this.#notice(nowMs);
    // A beat that is late already is due from now on: what it was late is told here, and not again.
    this.#dueMs = Math.max(this.#dueMs, nowMs);
    const largestMs = this.#largestMs;
    this.#largestMs = 0;
    return largestMs;
  }

  #notice(nowMs: number): void {
    this.#largestMs = Math.max(this.#largestMs, nowMs - this.#dueMs);
  }
}
