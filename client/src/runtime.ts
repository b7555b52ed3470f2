/** What the SDK takes from its surroundings besides the network: a clock, chance, pauses and timers. Tests pass their own. */

import { setTimeout as pause } from "node:timers/promises";

/** Clock, chance, pauses and timers. */
export interface Runtime {
  /** A clock that only moves forward, in milliseconds from an arbitrary start. */
  monotonicMs(): number;
  /** A random number, at least 0 and less than 1. */
  random(): number;
  /**
   * Resolves after a pause between two attempts.
   *
   * @throws the abort of the signal, when it comes first.
   */
  sleep(durationMs: number, signal: AbortSignal | undefined): Promise<void>;
  /**
   * Calls back once after a delay, at least 0 and less than 2^31 ms. It does not keep the process alive.
   *
   * @returns takes the timer back; does nothing once it has called.
   */
  after(delayMs: number, callback: () => void): () => void;
}

/** The real clock, chance, pauses and timers. */
export const systemRuntime: Runtime = {
  monotonicMs: () => performance.now(),
  random: () => Math.random(),
  sleep: (durationMs, signal) => pause(durationMs, undefined, signal === undefined ? {} : { signal }),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs).unref();
    return () => clearTimeout(timer);
  },
};
