/**
 * Commands about locks. All kinds use the same commands: an exclusive lock has the only mode `exclusive`, a read-write lock
 * has the modes `read` and `write`, a semaphore has the only mode `permits`. Read-write locks have names of their own.
 */

import type { ProposalOrigin } from "../../raft/index.ts";
import type { Claim, Hold } from "../core/index.ts";
import { type LockMode, type LockName, oneOf } from "../core/index.ts";

declare module "../core/results.ts" {
  interface StoredResults {
    readonly "create-lock": CreateLockResult;
    readonly "release-lock": ReleaseLockResult;
    readonly "force-release-lock": ForceReleaseLockResult;
    readonly "delete-lock": DeleteLockResult;
    readonly "create-semaphore": CreateSemaphoreResult;
    readonly "update-semaphore": UpdateSemaphoreResult;
    readonly "set-lock-value": SetLockValueResult;
  }
  interface UnstoredResults {
    readonly "acquire-lock": AcquireLockResult;
    readonly "queued-lock": QueuedLockResult;
  }
}

export interface CreateLockResult {
  readonly kind: "create-lock";
  readonly createdAtMs: number;
  readonly revision: number;
}

export interface ReleaseLockResult {
  readonly kind: "release-lock";
  readonly revision: number;
}

export interface ForceReleaseLockResult {
  readonly kind: "force-release-lock";
  /** The hold that ended; of several readers, the one granted first; null = none ended. */
  readonly previous: Hold | null;
  readonly revision: number;
}

export interface DeleteLockResult {
  readonly kind: "delete-lock";
  readonly revision: number;
}

export interface CreateSemaphoreResult {
  readonly kind: "create-semaphore";
  readonly createdAtMs: number;
  readonly revision: number;
}

export interface UpdateSemaphoreResult {
  readonly kind: "update-semaphore";
  readonly revision: number;
}

export interface SetLockValueResult {
  readonly kind: "set-lock-value";
  readonly revision: number;
}

/** `cooldown`: no caller holds it, and its delay after an expired or forced hold has not ended. */
export type LockState = "free" | "held" | "read-held" | "write-held" | "cooldown";

/** The answer to an acquisition, as of the entry that it answers (S23). */
export interface AcquireLockResult {
  readonly kind: "acquire-lock";
  /** The requested hold; null = the caller did not get it. */
  readonly hold: Hold | null;
  /** The first live holds in the order of their grants, and that one. */
  readonly holds: readonly Hold[];
  readonly state: LockState;
  readonly queueLength: number;
  /** Permits of a semaphore, and those that its holds have; only of a semaphore. */
  readonly permits?: number;
  readonly heldPermits?: number;
  /** Cluster ticks from the entry of the newest attempt to the grant, in milliseconds. */
  readonly waitedMs: number;
  /** The cluster tick from which the remaining times of holds count. */
  readonly tickMs: number;
  readonly revision: number;
}

/** The acquisition waits in the state: it has no answer yet, and a later entry gives one. */
export interface QueuedLockResult {
  readonly kind: "queued-lock";
  readonly revision: number;
}

export interface CreateLock extends LockName {
  readonly kind: "create-lock";
  /** Life of a hold that does not request its own, in seconds. */
  readonly ttlSeconds: number;
  /** Seconds after an expired or forced hold in which no caller gets the lock exclusively. */
  readonly lockDelaySeconds: number;
}

/** The mode also shows the kind of lock. */
export interface AcquireLock extends Claim {
  readonly kind: "acquire-lock";
  readonly namespace: string;
  readonly name: string;
  /** Life of the hold in seconds from its grant; 0 = the default of the lock. */
  readonly ttlSeconds: number;
  /** Label of the holder; "" = the subject, or with a token: the label of the hold. */
  readonly owner: string;
  /** Cluster ticks that it may wait, in milliseconds; 0 = it does not wait. */
  readonly waitMs: number;
  /** Token of the hold to renew, downgrade or upgrade; 0 = a new hold. */
  readonly fencingToken: number;
}

export interface ReleaseLock extends LockName {
  readonly kind: "release-lock";
  /** Mode of the hold; null = any. */
  readonly mode: LockMode | null;
  readonly owner: string;
  /** Token of the hold; 0 = the one of this subject, owner and mode. */
  readonly fencingToken: number;
}

export interface ForceReleaseLock extends LockName {
  readonly kind: "force-release-lock";
  /** Token of the hold; 0 = all holds. */
  readonly fencingToken: number;
  /** Why; the log entry records it, without any effect. */
  readonly reason: string;
}

export interface DeleteLock extends LockName {
  readonly kind: "delete-lock";
  /** Whether it ends holds, waits and a delay. Else it is refused if there are any. */
  readonly force: boolean;
  /** Whether it is a semaphore; absent = no. */
  readonly semaphore?: boolean;
}

export interface CreateSemaphore {
  readonly kind: "create-semaphore";
  readonly namespace: string;
  readonly name: string;
  /** 1 to PERMITS_MAX. */
  readonly permits: number;
  /** Life of a hold that does not request its own, in seconds. */
  readonly ttlSeconds: number;
}

/** Changes the number of permits. Holds keep theirs; nothing is granted until the held ones leave room for it. */
export interface UpdateSemaphore {
  readonly kind: "update-semaphore";
  readonly namespace: string;
  readonly name: string;
  /** 1 to PERMITS_MAX. */
  readonly permits: number;
}

/** Changes the value of a live hold of an exclusive lock. */
export interface SetLockValue {
  readonly kind: "set-lock-value";
  readonly namespace: string;
  readonly name: string;
  readonly fencingToken: number;
  /** Label of the hold; "" = any. */
  readonly owner: string;
  /** Empty = none. */
  readonly value: Uint8Array;
}

/** What can run out: a hold, by its token; a wait, by its position; the delay of a lock, which has no number. */
export interface LockTimer {
  readonly about: "hold" | "wait" | "delay";
  readonly lock: LockName;
  readonly number: number;
}

/** Names timers that may have run out; apply decides (S22). */
export interface ExpireLocks {
  readonly kind: "expire-locks";
  readonly timers: readonly LockTimer[];
}

/** The caller of this attempt is gone: undoes the acquisition unless a newer attempt has come (S25). */
export interface CancelAcquisition {
  readonly kind: "cancel-acquisition";
  readonly subject: string;
  /** 16 bytes. */
  readonly requestId: Uint8Array;
  readonly attempt: ProposalOrigin;
}

const ABOUTS: readonly LockTimer["about"][] = ["hold", "wait", "delay"];
export const timerKind = oneOf(ABOUTS, "timers are about something known");

/** The code of a timer's kind in the keys of rows, which is that of `timerKind`. */
export function codeOfTimer(about: LockTimer["about"]): number {
  return ABOUTS.indexOf(about);
}
