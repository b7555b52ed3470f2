/** Remaining times in answers. */

/**
 * Milliseconds from the cluster tick until the deadline, at least 1 because what still exists has not expired (S21);
 * 0 = no deadline.
 */
export function remainingMs(deadlineMs: number, tickMs: number): bigint {
  return deadlineMs === 0 ? 0n : BigInt(Math.max(1, deadlineMs - tickMs));
}
