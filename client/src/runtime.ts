/** What the SDK takes from its surroundings besides the network: a clock, chance and pauses. Tests pass their own. */

import { setTimeout as pause } from "node:timers/promises";

/** Clock, chance and pauses. */
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
}

/** The real clock, chance and pauses. */
export const systemRuntime: Runtime = {
  monotonicMs: () => performance.now(),
  random: () => Math.random(),
  sleep: (durationMs, signal) => pause(durationMs, undefined, signal === undefined ? {} : { signal }),
};
