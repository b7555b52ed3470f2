/** How long a unary call may take. */

/** Where the client sets no deadline. */
export const DEADLINE_DEFAULT_MS = 5_000;
/** However far away the client's deadline is. */
export const DEADLINE_MAX_MS = 60_000;

/**
 * Milliseconds that a call may take from now on; 0 or less = none at all.
 *
 * @param deadline of the call as the library tells it, from `grpc-timeout`: Infinity = the client set none.
 * @param nowMs on the clock by which the library made the deadline, Date.now().
 */
export function allowedMs(deadline: Date | number, nowMs: number): number {
  const leftMs = Number(deadline) - nowMs;
  return leftMs === Infinity ? DEADLINE_DEFAULT_MS : Math.min(leftMs, DEADLINE_MAX_MS);
}
