/**
 * How late the event loop of this process is, and its maximum: heartbeats, timers and requests wait that long.
 *
 * A timer beats at a fixed interval. If a beat is late, something has kept the loop busy. This class sees a stall when
 * it is over or when a caller reads the delay, and reports it once. It does not see work of other threads.
 */

import { DurationHistogram, SHORT_BOUNDS } from "./duration-histogram.ts";

/**
 * The interval at which the owner must call `beat`, in milliseconds. It understates a delay by at most this much, which
 * is little beside delays that matter. A shorter interval would wake up an idle member more often.
 */
export const BEAT_INTERVAL_MS = 50;

export class EventLoopDelay {
  /** Delay of each beat. */
  readonly delays = new DurationHistogram(SHORT_BOUNDS);
  readonly #monotonicMs: () => number;
  /** When the next beat is due. */
  #dueMs: number;
  #largestMs = 0;

  /** @param monotonicMs milliseconds that never decrease, with fractions. */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
    this.#dueMs = monotonicMs() + BEAT_INTERVAL_MS;
  }

  /** The timer fired. */
  beat(): void {
    const nowMs = this.#monotonicMs();
    this.#notice(nowMs);
    this.delays.addMs(Math.max(0, nowMs - this.#dueMs));
    this.#dueMs = nowMs + BEAT_INTERVAL_MS;
  }

  /** The largest delay since the last call, in milliseconds. */
  takeLargestMs(): number {
    const nowMs = this.#monotonicMs();
    this.#notice(nowMs);
    // A beat that is already late is due from now on: this call reports its delay, and no later call repeats it.
    this.#dueMs = Math.max(this.#dueMs, nowMs);
    const largestMs = this.#largestMs;
    this.#largestMs = 0;
    return largestMs;
  }

  #notice(nowMs: number): void {
    this.#largestMs = Math.max(this.#largestMs, nowMs - this.#dueMs);
  }
}
