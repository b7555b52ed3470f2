/** The public view of a lock: for descriptions, and for answers to acquisitions. */

import { type Hold, type LockName, requireNamespace, type StateReader } from "../core/index.ts";
import type { AcquireLockResult, LockState } from "./lock-commands.ts";
import { findLock, type Lock, readFirstHolds, readHold, readHolds, requireLock, requireLockOf } from "./lock-rows.ts";

export interface LockView {
  readonly lock: Readonly<Lock>;
  readonly state: LockState;
  /** Live holds in the order of their grants. */
  readonly holds: readonly Hold[];
}

/** Holds of a lock in a listing, and in the answer to a request for a hold. */
export const SHOWN_HOLDS_MAX = 10;

/**
 * The lock with its holds; raises NAMESPACE_NOT_FOUND or LOCK_NOT_FOUND.
 *
 * @param isSemaphore whether it must be a semaphore; undefined = any lock.
 */
export function describeLock(reader: StateReader, lockName: LockName, isSemaphore?: boolean): LockView {
  requireNamespace(reader, lockName.namespace);
  const lock = isSemaphore === undefined ? requireLock(reader, lockName) : requireLockOf(reader, lockName, isSemaphore);
  return { lock, state: stateOf(lock), holds: readHolds(reader, lock) };
}

/**
 * The lock as an answer shows it, and the live hold with the token, null = there is none. Undefined if the lock was
 * deleted, or its namespace is being deleted.
 */
export function describeHold(
  reader: StateReader,
  lockName: LockName,
  token: number,
): { readonly view: LockView; readonly hold: Hold | null } | undefined {
  const lock = findLock(reader, lockName);
  return lock && { view: answerViewOf(reader, lock), hold: readHold(reader, lock, token) ?? null };
}

/** The lock with its first holds: every member reads them for every answer, so their number is bounded. */
export function answerViewOf(reader: StateReader, lock: Lock): LockView {
  return { lock, state: stateOf(lock), holds: readFirstHolds(reader, lock, SHOWN_HOLDS_MAX) };
}

/** The answer to a request for a hold. It always shows the hold of the caller. */
export function acquireResult(
  { lock, state, holds }: LockView,
  hold: Hold | null,
  at: { readonly waitedMs: number; readonly tickMs: number; readonly revision: number },
): AcquireLockResult {
  const { waitedMs, tickMs, revision } = at;
  const queueLength = lock.waitingReaders + lock.waitingWriters;
  const isShown = hold === null || holds.some(({ token }) => token === hold.token);
  return {
    kind: "acquire-lock",
    hold,
    holds: isShown ? holds : [...holds, hold],
    state,
    queueLength,
    waitedMs,
    tickMs,
    revision,
    ...(lock.permits > 0 && { permits: lock.permits, heldPermits: lock.heldPermits }),
  };
}

/** The state of the lock, as clients see it. */
export function stateOf(lock: Lock): LockState {
  if (lock.exclusiveToken !== 0) {
    return lock.rw ? "write-held" : "held";
  }
  if (lock.readers > 0) {
    return lock.rw ? "read-held" : "held";
  }
  return lock.delayUntilMs === 0 ? "free" : "cooldown";
}
