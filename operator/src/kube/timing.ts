/** Clock, chance and pauses of what runs by itself here. Specs pass their own. */
import { setTimeout as pause } from "node:timers/promises";

export interface Timing {
  /** Milliseconds that only grow, from an arbitrary start. */
  monotonicMs(): number;
  /** At least 0 and less than 1. */
  random(): number;
  /** Resolves after so long, or as soon as the signal aborts. */
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

/** Doubles from `firstMs` to `lastMs` with each failure, from 1, and takes any part of it: those that failed together part. */
export function backoffMs(failures: number, firstMs: number, lastMs: number, random: number): number {
  return random * Math.min(lastMs, firstMs * 2 ** Math.min(failures - 1, 30));
}
