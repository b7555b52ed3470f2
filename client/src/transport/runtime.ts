/**
 * The surroundings of the SDK besides the network: a clock, random numbers, pauses and timers. Tests pass their own.
 */

import { setTimeout as pause } from "node:timers/promises";

/** Clock, random numbers, pauses and timers. */
export interface Runtime {
  /** A clock that only moves forward, in milliseconds from an arbitrary start. */
  monotonicMs(): number;
  /** A random number, at least 0 and less than 1. */
  random(): number;
  /**
   * Resolves after a pause between two attempts.
   *
   * @throws the abort of the signal, if it comes first.
   */
  sleep(durationMs: number, signal: AbortSignal | undefined): Promise<void>;
  /**
   * Calls back once after a delay, at least 0 and less than 2^31 ms. It does not keep the process alive.
   *
   * @returns a function that cancels the timer; it does nothing after the call.
   */
  after(delayMs: number, callback: () => void): () => void;
}

/** The real clock, random numbers, pauses and timers. */
export const systemRuntime: Runtime = {
  monotonicMs: () => performance.now(),
  random: () => Math.random(),
  sleep: (durationMs, signal) => pause(durationMs, undefined, signal === undefined ? {} : { signal }),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs).unref();
    return () => clearTimeout(timer);
  },
};
