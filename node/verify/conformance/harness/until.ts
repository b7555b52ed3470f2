import { type Attempt, until as untilWithin } from "../../../../testing/index.ts";

const POLL_MS = 25;
/** Many times as long as any wait here takes, in milliseconds. */
const LIMIT_MS = 100_000;

/** Repeats `attempt` until it returns neither null, undefined nor false. Rejects after `limitMs`, and names `what`. */
export function until<T>(what: string, attempt: Attempt<T>, limitMs = LIMIT_MS): Promise<T> {
  return untilWithin(what, attempt, { limitMs, pollMs: POLL_MS });
}
