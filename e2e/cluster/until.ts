import { type Attempt, until as untilWithin } from "../../testing/index.ts";

/** Often enough for what takes seconds, and no load for two cores. */
const POLL_MS = 100;

/** What `attempt` returns once it is neither null, undefined nor false; rejects after `limitMs`, naming what was missed. */
export function until<T>(what: string, attempt: Attempt<T>, limitMs: number): Promise<T> {
  return untilWithin(what, attempt, { limitMs, pollMs: POLL_MS });
}
