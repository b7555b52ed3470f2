/** Refusals of lock requests that several places raise. */

import { badField, type Claim, CoordinationError, type LockName } from "../core/index.ts";
import type { Acquisition } from "../replay/index.ts";
import { type Lock, lockKind, lockNotFound, quote, waitsOf } from "./lock-rows.ts";

/** The hold with this token has ended. */
export function lockLost(lock: LockName, token: number): CoordinationError {
  return new CoordinationError("LOCK_LOST", `hold ${token} of ${lockKind(lock)} ${quote(lock)} is not live any more`);
}

/** The answer to an attempt to acquire a lock when a newer attempt of the same request arrives. */
export function superseded(): CoordinationError {
  const message = "another attempt of the same request has taken the place of this one";
  return new CoordinationError("LEADER_CHANGED", message, { outcome: "unknown" });
}

/** The answer to a retry of a request for a hold, if the lock was deleted since then. */
export function goneSince({ lock, status, number }: Acquisition): CoordinationError {
  return status === "granted" ? lockLost(lock, number) : lockNotFound(lock);
}

/** The request asks for more permits than the semaphore has. */
export function tooManyPermits(lock: Lock, permits: number): CoordinationError {
  return badField(
    "permits",
    `must be 1 to ${lock.permits}, which ${lockKind(lock)} ${quote(lock)} has, not ${permits}`,
  );
}

/** The request would change the permits or the value of a hold by a renewal. */
export function claimOfRenewal({ permits, value, sessionId }: Claim, hold: Claim): CoordinationError | null {
  if (permits !== undefined && permits !== hold.permits) {
    return badField("permits", `must be 0 or ${hold.permits} in a renewal: a hold keeps its permits`);
  }
  if (sessionId !== undefined) {
    return badField("session_id", "must be 0 in a renewal: a hold keeps its session, or has none");
  }
  return value === undefined
    ? null
    : badField("value", "must be empty in a renewal: SetLockValue changes the value of a hold");
}

/** The lock has a hold, a wait or a delay. */
export function lockInUse(lock: Lock): CoordinationError {
  const holds = lock.exclusiveToken === 0 ? lock.readers : 1;
  const waits = waitsOf(lock);
  const why = holds + waits === 0 ? "its delay has not ended" : `it has ${holds} holds and ${waits} waits`;
  return new CoordinationError("NOT_EMPTY", `${lockKind(lock)} ${quote(lock)} cannot be deleted, because ${why}`, {
    details: new Map([
      ["holds", String(holds)],
      ["waits", String(waits)],
    ]),
  });
}
