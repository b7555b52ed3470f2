/**
 * Commands about locks. Both kinds use the same commands: an exclusive lock has the only mode
 * `exclusive`, a read-write lock has the modes `read` and `write`. The names of the two kinds are separate.
 */

import type { ProposalOrigin } from "../../raft/index.ts";
import { type LockMode, type LockName, oneOf } from "../core/index.ts";

export interface CreateLock extends LockName {
  readonly kind: "create-lock";
  /** Life of a hold that does not request its own, in seconds. */
  readonly ttlSeconds: number;
  /** Seconds after an expired or forced hold in which no caller gets the lock exclusively. */
  readonly lockDelaySeconds: number;
}

export interface AcquireLock {
  readonly kind: "acquire-lock";
  readonly namespace: string;
  readonly name: string;
  /** Also shows the kind of lock. */
  readonly mode: LockMode;
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
