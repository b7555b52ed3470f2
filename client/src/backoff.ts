/** How often an operation is tried, and how long it waits in between. */

/** Attempts of one operation, the first one included: enough for a change of leader, few enough not to feed an overload. */
export const maxAttempts = 4;

const firstPauseMs = 50;
const maxPauseMs = 1_000;

/**
 * The pause after a failed attempt: exponential from 50 ms, capped at 1 s, with full jitter, so that clients that failed
 * together do not come back together.
 *
 * @param attempt the attempt that failed, from 1.
 * @param random at least 0 and less than 1.
 * @returns milliseconds.
 */
export function backoffMs(attempt: number, random: number): number {
  return random * Math.min(maxPauseMs, firstPauseMs * 2 ** (attempt - 1));
}
