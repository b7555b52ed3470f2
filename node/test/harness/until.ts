/** Waiting for an observable fact. */

import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 20;

/**
 * What `attempt` returns once it is neither null, undefined nor false. Rejects after `limitMs`, naming what was waited
 * for: a limit is many times what it usually takes, and never a statement about speed.
 */
export async function until<T>(
  what: string,
  attempt: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  limitMs = 60_000,
): Promise<T> {
  const deadlineMs = performance.now() + limitMs;
  for (;;) {
    const result = await attempt();
    if (result !== null && result !== undefined && result !== false) {
      return result;
    }
    if (performance.now() > deadlineMs) {
      throw new Error(`waited in vain for ${what}`);
    }
    await sleep(POLL_MS);
  }
}

/** Lets a random time pass before a fault is made. For nothing else: a test that waits for something uses `until`. */
export async function pause(ms: number): Promise<void> {
  await sleep(ms);
}
