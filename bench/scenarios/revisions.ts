/** What revisions tell of the work that was done. */

export function greater(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** Raises an error if operations were acknowledged without being done, or did more than they should. */
export function assertGrown(operations: number, grown: bigint, expected: bigint): void {
  if (grown !== expected) {
    throw new Error(
      `${operations} operations were acknowledged, but the revision grew by ${grown} instead of ${expected}`,
    );
  }
}
