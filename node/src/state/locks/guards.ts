/**
 * Guards: a write that takes effect only while a lock is held. The write carries the token of the hold, and apply
 * refuses the write unless that very hold is live. So a caller that has lost a lock can write nothing under it, however
 * late the write arrives.
 */

import {
  CoordinationError,
  count,
  flag,
  namespaceRefusalOf,
  optional,
  recordOf,
  type StateReader,
  text,
} from "../core/index.ts";
import { readSession } from "../sessions/index.ts";
import { findLock, readHold } from "./lock-rows.ts";

export interface Guard {
  /** Name of a lock in the namespace of the write; "" = a session guards it, whose id is the token. */
  readonly lockName: string;
  /** Token of a live hold, of any holder; for a read-write lock, of a writing hold; for a semaphore, of any hold. */
  readonly fencingToken: number;
  readonly rw: boolean;
}

/**
 * Raises FENCED unless the hold is live in the state of the reader, also if the lock does not exist. The caller has
 * checked the namespace. Without a guard this refuses nothing.
 */
export function checkGuard(reader: StateReader, namespace: string, guard: Guard | undefined): void {
  if (guard !== undefined && !isHoldLive(reader, namespace, guard)) {
    const { lockName, fencingToken } = guard;
    const isSession = lockName === "";
    const what = isSession
      ? `session ${fencingToken}`
      : `hold ${fencingToken} of lock ${JSON.stringify(`${namespace}/${lockName}`)}`;
    throw new CoordinationError("FENCED", `the ${what} that guards the request is not live`, {
      details: new Map([[isSession ? "session_id" : "fencing_token", String(fencingToken)]]),
    });
  }
}

/** Whether the hold is live in the state of the reader. */
export function isHoldLive(reader: StateReader, namespace: string, { lockName, fencingToken, rw }: Guard): boolean {
  if (lockName === "") {
    return namespaceRefusalOf(reader, namespace) === null && readSession(reader, namespace, fencingToken) !== undefined;
  }
  const lock = findLock(reader, { namespace, rw, name: lockName });
  if (lock === undefined || fencingToken === 0) {
    return false;
  }
  return lock.permits > 0 ? readHold(reader, lock, fencingToken) !== undefined : lock.exclusiveToken === fencingToken;
}

/** The fields of a guard. */
export const GUARD = { lockName: text, fencingToken: count, rw: flag } as const;
/** The guard of an operation, which has no such field without one. */
export const optionalGuard = optional(recordOf<Guard>(GUARD));
