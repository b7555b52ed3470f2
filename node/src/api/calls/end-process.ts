/** Ends the process after a broken invariant, from code whose caller would catch the error. */

import type { InvariantViolation } from "../../primitives/index.ts";

/** Throws in a separate turn: the gRPC library catches what its handlers throw, and would go on. */
export function endProcess(violation: InvariantViolation): void {
  process.nextTick(() => {
    throw violation;
  });
}
