/** The public view of a lock: for descriptions, and for answers to acquisitions. */

import type { LockName } from "./lock-commands.ts";
import { type Hold, type Lock, readHolds, requireLock } from "./lock-rows.ts";
import { requireNamespace } from "./namespaces.ts";
import type { StateReader } from "./store.ts";

/** `cooldown`: no caller holds it, and its delay after an expired or forced hold has not ended. */
export type LockState = "free" | "held" | "read-held" | "write-held" | "cooldown";

export interface LockView {
  readonly lock: Readonly<Lock>;
  readonly state: LockState;
  /** Live holds in the order of their grants. */
  readonly holds: readonly Hold[];
}

/** The answer to an acquisition, as of the entry that it answers (S23). */
export interface AcquireLockResult {
  readonly kind: "acquire-lock";
  /** The requested hold; null = the caller did not get it. */
  readonly hold: Hold | null;
  /** All live holds, including that one. */
  readonly holds: readonly Hold[];
  readonly state: LockState;
  readonly queueLength: number;
  /** Cluster ticks from the entry of the newest attempt to the grant, in milliseconds. */
  readonly waitedMs: number;
  /** The cluster tick from which the remaining times of holds count. */
  readonly tickMs: number;
  readonly revision: number;
}

/** The lock with its holds; raises NAMESPACE_NOT_FOUND or LOCK_NOT_FOUND. */
export function describeLock(reader: StateReader, lockName: LockName): LockView {
  requireNamespace(reader, lockName.namespace);
  return viewOf(reader, requireLock(reader, lockName));
}

export function viewOf(reader: StateReader, lock: Lock): LockView {
  return { lock, state: stateOf(lock), holds: readHolds(reader, lock) };
}

/** The answer to a request for a hold. */
export function acquireResult(
  { lock, state, holds }: LockView,
  hold: Hold | null,
  at: { readonly waitedMs: number; readonly tickMs: number; readonly revision: number },
): AcquireLockResult {
  const { waitedMs, tickMs, revision } = at;
  const queueLength = lock.waitingReaders + lock.waitingWriters;
  return { kind: "acquire-lock", hold, holds, state, queueLength, waitedMs, tickMs, revision };
}

function stateOf(lock: Lock): LockState {
  if (lock.exclusiveToken !== 0) {
    return lock.rw ? "write-held" : "held";
  }
  if (lock.readers > 0) {
    return "read-held";
  }
  return lock.delayUntilMs === 0 ? "free" : "cooldown";
}
