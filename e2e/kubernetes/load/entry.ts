/** The record of a load: one line of JSON for each operation, in the format of the histories that are judged later. */

import type {
  KeyAnswer,
  KeyOperation,
  LockAnswer,
  LockOperation,
  OperationOutcome,
} from "../../../node/verify/history/index.ts";

/** A completed operation. Times come from the wall clock at the program's start, and grow monotonically from there. */
export interface Entry<Operation, Answer> {
  readonly client: string;
  readonly operation: Operation;
  readonly startMs: number;
  readonly endMs: number;
  readonly outcome: OperationOutcome<Answer>;
  /** Code, reason and message; absent without a failure. */
  readonly failure?: string;
}

export type KeyEntry = Entry<KeyOperation, KeyAnswer>;
export type LockEntry = Entry<LockOperation, LockAnswer>;

/** Progress so far. */
export interface Progress {
  readonly acknowledgedWrites: number;
  /** An error of the load itself or of the service that no fault explains; null if there is none. */
  readonly error: string | null;
}

/** The whole record, once the load has ended. */
export interface Record {
  readonly keys: readonly KeyEntry[];
  readonly locks: readonly LockEntry[];
}

/** Milliseconds, from a monotonic clock. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
