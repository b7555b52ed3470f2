/** Clock, randomness and pauses for background work. Specs pass their own. */
import { setTimeout as pause } from "node:timers/promises";

export interface Timing {
  /** Milliseconds from an arbitrary start; never decreases. */
  monotonicMs(): number;
  /** At least 0 and less than 1. */
  random(): number;
  /** Resolves after this time, or as soon as the signal aborts. */
  sleep(durationMs: number, signal: AbortSignal): Promise<void>;
}

export const systemTiming: Timing = {
  monotonicMs: () => performance.now(),
  random: () => Math.random(),
  sleep: async (durationMs, signal) => {
    try {
      await pause(durationMs, undefined, { signal });
    } catch (error) {
      if (!signal.aborted) {
        throw error;
      }
    }
  },
};

/** Exponential backoff with full jitter: doubles from `firstMs` to `lastMs` with each failure, counted from 1. */
export function backoffMs(failures: number, firstMs: number, lastMs: number, random: number): number {
  return random * Math.min(lastMs, firstMs * 2 ** Math.min(failures - 1, 30));
}
