/** Messages about locks. The functions only format their arguments. */

import { type Lock, type LockHold, LockState, type LockWait, RWMode } from "@quoin/proto";
import type { Hold, ListedLock, LockMode, LockView, Wait } from "../../state/index.ts";
import { remainingMs } from "./remaining-time.ts";

export const STATES: Record<LockView["state"], LockState> = {
  free: LockState.FREE,
  held: LockState.HELD,
  "read-held": LockState.READ_HELD,
  "write-held": LockState.WRITE_HELD,
  cooldown: LockState.COOLDOWN,
};
/** Only read-write locks have modes that clients know. */
export const MODES: Record<LockMode, RWMode> = {
  exclusive: RWMode.RW_MODE_UNSPECIFIED,
  read: RWMode.READ,
  write: RWMode.WRITE,
  permits: RWMode.RW_MODE_UNSPECIFIED,
};
const NO_BYTES = new Uint8Array(0);

/** The holds, with their remaining times at the cluster tick. */
export function lockHolds(holds: readonly Hold[], tickMs: number): LockHold[] {
  return holds.map((hold) => lockHold(hold, tickMs));
}

/** The hold, with its remaining time at the cluster tick. */
export function lockHold(hold: Hold, tickMs: number): LockHold {
  return {
    owner: hold.owner,
    subject: hold.subject,
    fencingToken: BigInt(hold.token),
    acquiredAtMs: BigInt(hold.acquiredAtMs),
    expiresInMs: remainingMs(hold.deadlineMs, tickMs),
    mode: MODES[hold.mode],
    permits: hold.permits ?? 0,
    value: hold.value ?? NO_BYTES,
    sessionId: BigInt(hold.sessionId ?? 0),
  };
}

/** The lock in a listing, with its remaining times at the cluster tick. */
export function listedLock(listed: ListedLock, refusedGuards: number, tickMs: number): Lock {
  const { lock, state, holds, waits } = listed;
  return {
    name: lock.name,
    rw: lock.rw,
    state: STATES[state],
    holders: lockHolds(holds, tickMs),
    holderCount: lock.exclusiveToken === 0 ? lock.readers : 1,
    waitingReaders: lock.waitingReaders,
    waitingWriters: lock.waitingWriters,
    waits: lockWaits(waits, tickMs),
    ttlSeconds: BigInt(lock.ttlSeconds),
    lockDelaySeconds: BigInt(lock.lockDelaySeconds),
    cooldownMs: remainingMs(lock.delayUntilMs, tickMs),
    lastFencingToken: BigInt(lock.lastToken),
    createdAtMs: BigInt(lock.createdAtMs),
    refusedGuards: BigInt(refusedGuards),
    permits: lock.permits,
    heldPermits: lock.heldPermits,
  };
}

/** The first waits of a lock, with their times at the cluster tick. */
export function lockWaits(waits: readonly Wait[], tickMs: number): LockWait[] {
  return waits.map(({ owner, principal, mode, permits = 0, ttlSeconds, askedMs, deadlineMs }, at) => ({
    place: at + 1,
    owner,
    subject: principal.subject,
    mode: MODES[mode],
    ttlSeconds: BigInt(ttlSeconds),
    waitedMs: BigInt(Math.max(0, tickMs - askedMs)),
    endsInMs: remainingMs(deadlineMs, tickMs),
    permits,
  }));
}
