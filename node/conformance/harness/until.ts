import { type Attempt, until as untilWithin } from "../../../testing/index.ts";

const POLL_MS = 25;
/** Many times what anything here takes. */
const LIMIT_MS = 100_000;

/** What `attempt` returns once it is neither null, undefined nor false; rejects after `limitMs`, naming what was missed. */
export function until<T>(what: string, attempt: Attempt<T>, limitMs = LIMIT_MS): Promise<T> {
  return untilWithin(what, attempt, { limitMs, pollMs: POLL_MS });
}
