/** The rows that apply reads or writes for an operation. */

import type { ClientOperation, HttpOperation } from "./command.ts";
import type { LockName, StateReader } from "./core/index.ts";
import { readLock } from "./locks/index.ts";

/**
 * Returns how many rows, as far as the state shows now, apply needs for the operation more than for most operations.
 * Their bytes do not show that: an operation on a lock may concern all of its readers.
 */
export function extraRowsOf(reader: StateReader, operation: ClientOperation | HttpOperation): number {
  switch (operation.kind) {
    case "append-events":
      return operation.payloads.count - 1;
    case "release-lock":
    case "force-release-lock":
      return operation.rw ? readersOf(reader, operation) : 0;
    case "acquire-lock":
      // A downgrade lets in all readers that wait.
      return operation.mode === "read" && operation.fencingToken !== 0
        ? readersOf(reader, { ...operation, rw: true })
        : 0;
    default:
      return 0;
  }
}

/** The readers of the lock, and those that wait, whom the end of a hold lets in. */
function readersOf(reader: StateReader, lockName: LockName): number {
  const lock = readLock(reader, lockName);
  return lock === undefined ? 0 : lock.readers + lock.waitingReaders;
}
