/**
 * Guards: a write that counts only while a lock is held. The token of the hold goes with the write, and apply refuses it
 * unless that very hold is live, so whoever has lost a lock can write nothing more under it, however late it arrives.
 */

import { CoordinationError } from "./coordination-error.ts";
import { readLock } from "./lock-rows.ts";
import type { RecordReader, RecordWriter } from "./record.ts";
import type { StateReader } from "./store.ts";

export interface Guard {
  /** Name of a lock in the namespace of what is written. */
  readonly lockName: string;
  /** Token of a hold of it, by whomever; on a read-write lock that of a writer. */
  readonly fencingToken: number;
  readonly rw: boolean;
}

/**
 * Raises FENCED unless the hold is live in the state that the reader shows, also if there is no such lock. Whether the
 * namespace exists is checked before. Without a guard nothing is refused.
 */
export function checkGuard(reader: StateReader, namespace: string, guard: Guard | undefined): void {
  if (guard === undefined) {
    return;
  }
  const { lockName, fencingToken, rw } = guard;
  const lock = readLock(reader, { namespace, rw, name: lockName });
  if (lock === undefined || fencingToken === 0 || lock.exclusiveToken !== fencingToken) {
    throw new CoordinationError(
      "FENCED",
      `the hold ${fencingToken} of lock ${JSON.stringify(`${namespace}/${lockName}`)} that guards the request is not live`,
      { details: new Map([["fencing_token", String(fencingToken)]]) },
    );
  }
}

export function writeGuard(writer: RecordWriter, guard: Guard | undefined): void {
  writer.boolean(guard !== undefined);
  if (guard !== undefined) {
    writer.text(guard.lockName).uint53(guard.fencingToken).boolean(guard.rw);
  }
}

/** The guard, or undefined for an operation without one. */
export function readGuard(reader: RecordReader): Guard | undefined {
  if (!reader.boolean()) {
    return undefined;
  }
  return { lockName: reader.text(), fencingToken: reader.uint53(), rw: reader.boolean() };
}

/** The operation with the guard as a field of its own, or the operation itself: it has no such field without a guard. */
export function guarded<Operation extends object>(
  operation: Operation,
  guard: Guard | undefined,
): Operation & { readonly guard?: Guard } {
  return guard === undefined ? operation : { ...operation, guard };
}
