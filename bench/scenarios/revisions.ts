/** Conclusions from revisions about the work that was done. */

export function greater(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** Raises an error if operations were acknowledged without execution, or did more than expected. */
export function assertGrown(operations: number, grown: bigint, expected: bigint): void {
  if (grown !== expected) {
    throw new Error(
      `${operations} operations were acknowledged, but the revision grew by ${grown} instead of ${expected}`,
    );
  }
}
