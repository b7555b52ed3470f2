/** The end of the process after a broken invariant, from code whose caller would catch it. */

import type { InvariantViolation } from "../../raft/index.ts";

/** Throws in a turn of its own: the gRPC library answers what its handlers throw, and would go on. */
export function endProcess(violation: InvariantViolation): void {
  process.nextTick(() => {
    throw violation;
  });
}
