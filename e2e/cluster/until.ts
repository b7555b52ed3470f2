/** Waiting for an observable fact. */

import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 100;

/**
 * What `attempt` returns once it is neither null, undefined nor false. Rejects after `limitMs`, naming what was waited
 * for; and at once with whatever `attempt` rejects with.
 */
export async function until<T>(
  what: string,
  attempt: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  limitMs: number,
): Promise<T> {
  const deadlineMs = performance.now() + limitMs;
  for (;;) {
    const result = await attempt();
    if (result !== null && result !== undefined && result !== false) {
      return result;
    }
    if (performance.now() > deadlineMs) {
      throw new Error(`waited ${limitMs / 1000} s in vain for ${what}`);
    }
    await sleep(POLL_MS);
  }
}
