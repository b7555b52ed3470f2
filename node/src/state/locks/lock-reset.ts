/**
 * Ends all lock activity of a former cluster: holds, waits and delays. The locks themselves stay.
 *
 * Watchers get no changes: a new cluster begins with a compacted history, so every watcher lists the locks again.
 *
 * Every wait, every delay and every hold has a timer, or belongs to a session. One scan finds all timers, and one all such
 * holds, before anything changes. Everything else is single reads, because a scan takes time for each change that is not yet written.
 */

import { latin1Of } from "../../bytes/index.ts";
import { invariant } from "../../primitives/index.ts";
import { type ApplyContext, type LockName, lockRow } from "../core/index.ts";
import { ownedHolds } from "../sessions/index.ts";
import type { LockTimer } from "./lock-commands.ts";
import { endWait, removeEnded } from "./lock-grants.ts";
import {
  dueLockTimers,
  type Lock,
  readHold,
  readLock,
  readWait,
  removeWait,
  requireIdle,
  setDelay,
  splitHoldThing,
  writeLock,
} from "./lock-rows.ts";

/** A retry of a request whose hold has ended gets LOCK_LOST; a retry of a request that waited starts again. */
export function resetLocks(context: ApplyContext): void {
  const timers = dueLockTimers(context.transaction, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  const owned = ownedHolds(context.transaction);
  const locks = new Map<string, Lock>();
  for (const timer of timers) {
    const name = rowNameOf(timer.lock);
    const lock = locks.get(name) ?? requireTimed(context, timer);
    locks.set(name, lock);
    end(context, lock, timer);
  }
  for (const thing of owned) {
    const { name, token } = splitHoldThing(thing);
    const lock = locks.get(rowNameOf(name)) ?? requireTimed(context, { lock: name });
    locks.set(rowNameOf(name), lock);
    end(context, lock, { about: "hold", lock: name, number: token });
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

function requireTimed(context: ApplyContext, { lock: name }: Pick<LockTimer, "lock">): Lock {
  const lock = readLock(context.transaction, name);
  invariant(lock !== undefined, "the lock that a timer names is there");
  return lock;
}

function rowNameOf({ namespace, rw, name }: LockName): string {
  return latin1Of(lockRow(namespace, rw, name));
}
