/** What a load writes down: one line of JSON for each operation, in the words of the histories that are judged later. */

import type {
  KeyAnswer,
  KeyOperation,
  LockAnswer,
  LockOperation,
  OperationOutcome,
} from "../../../node/history/index.ts";

/** An operation that has ended. Times are those of the wall clock when the program started, and grow steadily from there. */
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

/** What has been done so far. */
export interface Progress {
  readonly acknowledgedWrites: number;
  /** An error of the load itself or of the service, which no fault explains; null if there is none. */
  readonly error: string | null;
}

/** Everything, once the load has ended. */
export interface Record {
  readonly keys: readonly KeyEntry[];
  readonly locks: readonly LockEntry[];
}

/** Milliseconds, of a clock that nobody sets back. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
