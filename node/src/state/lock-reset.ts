/**
 * Ends everything that a former cluster had going on about locks: holds, waits and delays. The locks themselves stay.
 *
 * Watchers are not told: a new cluster begins with a compacted history, so every watcher lists the locks again.
 *
 * Every hold, wait and delay has a timer, and the timers are found by one scan before anything is changed. Everything
 * else is single reads, because a scan takes as long as there are changes that are not written yet.
 */

import { latin1Of } from "../bytes/index.ts";
import { invariant } from "../raft/index.ts";
import type { ApplyContext } from "./apply-context.ts";
import type { LockName, LockTimer } from "./lock-commands.ts";
import { endWait, removeEnded } from "./lock-grants.ts";
import {
  dueLockTimers,
  type Lock,
  readHold,
  readLock,
  readWait,
  removeWait,
  setDelay,
  writeLock,
} from "./lock-rows.ts";
import { lockRow } from "./rows.ts";

/**
 * A retry of a request whose hold has ended is answered LOCK_LOST; a retry of one that waited begins again.
 */
export function resetLocks(context: ApplyContext): void {
  const timers = dueLockTimers(context.transaction, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  const locks = new Map<string, Lock>();
  for (const timer of timers) {
    const name = rowNameOf(timer.lock);
    const lock = locks.get(name) ?? requireTimed(context, timer);
    locks.set(name, lock);
    end(context, lock, timer);
  }
  for (const lock of locks.values()) {
    requireIdle(lock);
    writeLock(context, lock);
  }
}

function end(context: ApplyContext, lock: Lock, { about, number }: LockTimer): void {
  switch (about) {
    case "hold": {
      const hold = readHold(context.transaction, lock, number);
      invariant(hold !== undefined, "the hold that a timer names is there");
      removeEnded(context, lock, hold, "granted");
      return;
    }
    case "wait": {
      const wait = readWait(context.transaction, lock, number);
      invariant(wait !== undefined, "the wait that a timer names is there");
      removeWait(context, lock, wait);
      endWait(context, wait, "cancelled");
      return;
    }
    case "delay":
      setDelay(context, lock, 0);
      return;
  }
}

function requireTimed(context: ApplyContext, { lock: name }: LockTimer): Lock {
  const lock = readLock(context.transaction, name);
  invariant(lock !== undefined, "the lock that a timer names is there");
  return lock;
}

function requireIdle(lock: Lock): void {
  const { exclusiveToken, readers, waitingReaders, waitingWriters, delayUntilMs } = lock;
  const isIdle = exclusiveToken + readers + waitingReaders + waitingWriters + delayUntilMs === 0;
  invariant(isIdle, "every hold, wait and delay has a timer", () => JSON.stringify(lock));
}

function rowNameOf({ namespace, rw, name }: LockName): string {
  return latin1Of(lockRow(namespace, rw, name));
}
