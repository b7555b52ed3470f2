/** Waiting for an observable fact. */

import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 25;
/** Many times what anything here takes. */
const LIMIT_MS = 100_000;

/** What `attempt` returns once it is neither null, undefined nor false. Rejects after a while, naming what was missed. */
export async function until<Found>(
  what: string,
  attempt: () => Found | null | undefined | false | Promise<Found | null | undefined | false>,
  limitMs = LIMIT_MS,
): Promise<Found> {
  const deadlineMs = performance.now() + limitMs;
  for (;;) {
    const found = await attempt();
    if (found !== null && found !== undefined && found !== false) {
      return found;
    }
    if (performance.now() > deadlineMs) {
      throw new Error(`waited in vain for ${what}`);
    }
    await sleep(POLL_MS);
  }
}
