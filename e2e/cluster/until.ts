import { type Attempt, until as untilWithin } from "../../testing/index.ts";

/** Often enough for work that takes seconds, and little load for two cores. */
const POLL_MS = 100;

/**
 * Returns the first result of `attempt` that is neither null, undefined nor false. Rejects after `limitMs`, and names
 * what it waited for.
 */
export function until<T>(what: string, attempt: Attempt<T>, limitMs: number): Promise<T> {
  return untilWithin(what, attempt, { limitMs, pollMs: POLL_MS });
}
