/**
 * Grants of locks and the ends of holds: the rules by which a lock passes from one holder to the next.
 *
 * Waiting is first come, first served: no waiter overtakes another, so no reader overtakes a waiting writer, and no small
 * request for permits a large one (S29). Consecutive readers at the head are granted together, as are requests whose permits
 * are free. After an expired or forced hold, the lock's delay starts,
 * because the old holder may not have noticed the end. During the delay no caller gets the lock exclusively, and a
 * reader gets it only beside live readers. When the turn of a waiter comes, its rights are checked again; a waiter
 * without rights gets nothing.
 *
 * The history records every beginning and end of a hold, at its own revision.
 */

import { refusalOf } from "../accounts/index.ts";
import {
  type ApplyContext,
  type Claim,
  type CoordinationError,
  claimOf,
  type Hold,
  type HoldReason,
  type LockChange,
  type LockName,
  namespaceRefusalOf,
  recordChanges,
  refusalIn,
} from "../core/index.ts";
import { type Acquisition, changeAcquisition } from "../replay/index.ts";
import { requireOwnSession, requireRoom } from "../sessions/index.ts";
import { addHold, type Lock, removeHold, removeWait, setDelay, visitNextWaits, type Wait } from "./lock-rows.ts";
import { acquireResult, answerViewOf, type LockView } from "./lock-view.ts";

/** The part of a request that a grant needs. */
export type LockRequest = Pick<Hold, "owner" | "subject" | "requestId" | "ttlSeconds"> & Claim;

/** Whether the first caller in line can get a hold with this claim now. */
export function isGrantable(context: ApplyContext, lock: Lock, { mode, permits = 0 }: Claim): boolean {
  const isDelayed = lock.delayUntilMs !== 0;
  if (lock.exclusiveToken !== 0) {
    return false;
  }
  if (mode === "permits") {
    return lock.heldPermits + permits <= lock.permits && lock.readers < context.limits.lockReadersMax;
  }
  if (mode === "read") {
    return (!isDelayed || lock.readers > 0) && lock.readers < context.limits.lockReadersMax;
  }
  return !isDelayed && lock.readers === 0;
}

/** The deadline of a hold that gets its time to live now; 0 = it ends with its session. */
export function holdDeadlineMs(
  context: ApplyContext,
  { sessionId, ttlSeconds }: Pick<Hold, "sessionId" | "ttlSeconds">,
) {
  return sessionId === undefined ? context.deadlineAfter(ttlSeconds) : 0;
}

/** Grants a hold at the next revision, which is its token. */
export function grant(context: ApplyContext, lock: Lock, request: LockRequest): Hold {
  const hold = beginHold(context, lock, request);
  recordChanges(context, hold.token, [changeOf(lock, hold, "acquired", "normal")]);
  return hold;
}

/** Ends a reading hold and begins a writing one in its place, both at the next revision. */
export function upgradeHold(context: ApplyContext, lock: Lock, before: Hold, request: LockRequest): Hold {
  const released = changeOf(lock, before, "released", "upgraded");
  removeEnded(context, lock, before, "granted");
  const hold = beginHold(context, lock, request);
  recordChanges(context, hold.token, [released, changeOf(lock, hold, "acquired", "upgraded")]);
  return hold;
}

/** Records that a writing hold, already in its new mode, is a reading hold from the next revision on. */
export function onDowngraded(context: ApplyContext, lock: Lock, hold: Hold): void {
  lock.exclusiveToken = 0;
  lock.readers = 1;
  recordChanges(context, context.nextRevision(), [changeOf(lock, hold, "acquired", "downgraded")]);
}

/** Records that a hold, already with its new value, has that value from the next revision on, and returns the revision. */
export function onValueReplaced(context: ApplyContext, lock: Lock, hold: Hold): number {
  const revision = context.nextRevision();
  recordChanges(context, revision, [changeOf(lock, hold, "acquired", "updated")]);
  return revision;
}

/**
 * Ends at least one hold for this reason at the next revision, and returns the revision. The stored state of their
 * requests becomes `status`, for one replay window.
 */
export function endHolds(
  context: ApplyContext,
  lock: Lock,
  holds: readonly Hold[],
  reason: HoldReason,
  status: Acquisition["status"] = "granted",
): number {
  for (const hold of holds) {
    removeEnded(context, lock, hold, status);
  }
  const revision = context.nextRevision();
  const changes = holds.map((hold) => changeOf(lock, hold, "released", reason));
  recordChanges(context, revision, changes);
  return revision;
}

function beginHold(context: ApplyContext, lock: Lock, request: LockRequest): Hold {
  const token = context.nextRevision();
  const { owner, subject, requestId, ttlSeconds } = request;
  const deadlineMs = holdDeadlineMs(context, request);
  const times = { ttlSeconds, acquiredAtMs: context.wallMs, deadlineMs };
  const hold = { token, owner, subject, requestId, ...claimOf(request), ...times };
  addHold(context, lock, hold);
  lock.lastToken = token;
  take(lock, hold, token);
  return hold;
}

/** Counts the claim of a new hold. */
function take(lock: Lock, { mode, permits = 0 }: Claim, token: number): void {
  if (mode === "read" || mode === "permits") {
    lock.readers++;
    lock.heldPermits += permits;
  } else {
    lock.exclusiveToken = token;
  }
}

/** Removes a hold. The stored state of its request becomes `status`, for one replay window. Watchers get no change. */
export function removeEnded(context: ApplyContext, lock: Lock, hold: Hold, status: Acquisition["status"]): void {
  removeHold(context, lock, hold);
  if (hold.mode === "read" || hold.mode === "permits") {
    lock.readers--;
    lock.heldPermits -= hold.permits ?? 0;
  } else {
    lock.exclusiveToken = 0;
  }
  changeAcquisition(context, hold.subject, hold.requestId, { status }, false);
}

function changeOf(
  { namespace, rw, name }: LockName,
  hold: Hold,
  kind: LockChange["kind"],
  reason: HoldReason,
): LockChange {
  return { about: "lock", kind, namespace, rw, name, owner: hold.owner, ...claimOf(hold), token: hold.token, reason };
}

/** Starts the lock's delay, if it has one: the holder may not know that the hold has ended. */
export function startDelay(context: ApplyContext, lock: Lock): void {
  if (lock.lockDelaySeconds > 0) {
    setDelay(context, lock, context.deadlineAfter(lock.lockDelaySeconds));
  }
}

/** Grants the lock to the waiters whose turn has come, and answers them. */
export function grantWaiting(context: ApplyContext, lock: Lock): void {
  const granted: { readonly wait: Wait; readonly hold: Hold }[] = [];
  const refused: { readonly wait: Wait; readonly refusal: CoordinationError }[] = [];
  for (const { wait, refusal } of waitsToEnd(context, lock)) {
    removeWait(context, lock, wait);
    if (refusal !== null) {
      refused.push({ wait, refusal });
      continue;
    }
    const { requestId, owner, ttlSeconds } = wait;
    const request = { owner, subject: wait.principal.subject, requestId, ttlSeconds, ...claimOf(wait) };
    granted.push({ wait, hold: grant(context, lock, request) });
  }
  for (const { wait, refusal } of refused) {
    const attempt = endWait(context, wait, "cancelled");
    context.endWait({ attempt, outcome: { answer: refusal, replayed: "no" } });
  }
  if (granted.length === 0) {
    return;
  }
  const view = answerViewOf(context.transaction, lock);
  for (const { wait, hold } of granted) {
    const change = { status: "granted", number: hold.token } as const;
    const { attempt } = changeAcquisition(context, hold.subject, hold.requestId, change, true);
    context.endWait({ attempt, outcome: { answer: answerTo(context, view, wait, hold), replayed: "no" } });
  }
}

/** Answers a wait whose time is up. The caller has already updated the lock's row and queue. */
export function answerTimeout(context: ApplyContext, lock: Lock, wait: Wait): void {
  const attempt = endWait(context, wait, "not-acquired");
  const answer = answerTo(context, answerViewOf(context.transaction, lock), wait, null);
  context.endWait({ attempt, outcome: { answer, replayed: "no" } });
}

/** Sets the stored state of an ended wait; returns the attempt that waited. */
export function endWait(
  context: ApplyContext,
  wait: Wait,
  status: "cancelled" | "not-acquired",
): Acquisition["attempt"] {
  const change = { status, number: 0 };
  return changeAcquisition(context, wait.principal.subject, wait.requestId, change, false).attempt;
}

function answerTo(context: ApplyContext, view: LockView, wait: Wait, hold: Hold | null) {
  const { tickMs, revision } = context;
  return acquireResult(view, hold, { waitedMs: tickMs - wait.askedMs, tickMs, revision });
}

/** The waits at the head that end now: by a grant, or by a refusal because they lost their rights or their namespace. */
function waitsToEnd(
  context: ApplyContext,
  lock: Lock,
): readonly { readonly wait: Wait; readonly refusal: CoordinationError | null }[] {
  const turns: { wait: Wait; refusal: CoordinationError | null }[] = [];
  if (lock.exclusiveToken !== 0) {
    return turns;
  }
  const required = { access: "write", namespace: lock.namespace } as const;
  /** Holds that sessions get here. */
  const owned = new Map<number, number>();
  // The lock as it will be. The scan must not see changes, so the lock itself changes later.
  const planned = { ...lock };
  visitNextWaits(context, lock, (wait) => {
    if (!isGrantable(context, planned, wait)) {
      return false;
    }
    const refusal =
      namespaceRefusalOf(context.transaction, lock.namespace) ??
      refusalOf(context.transaction, wait.principal, required, context.wallMs) ??
      sessionRefusalOf(context, lock.namespace, wait, owned);
    turns.push({ wait, refusal });
    if (refusal === null) {
      take(planned, wait, Number.MAX_SAFE_INTEGER);
    }
    return true;
  });
  return turns;
}

/** Why the wait cannot get a hold in its session now; null if it can, or needs none. Counts the hold in `owned`. */
function sessionRefusalOf(
  context: ApplyContext,
  namespace: string,
  { principal, sessionId }: Wait,
  owned: Map<number, number>,
): CoordinationError | null {
  if (sessionId === undefined) {
    return null;
  }
  const planned = owned.get(sessionId) ?? 0;
  try {
    requireOwnSession(context.transaction, namespace, sessionId, principal.subject);
    requireRoom(context, namespace, null, { sessionId, bytes: 0 }, planned);
  } catch (error) {
    return refusalIn(error);
  }
  owned.set(sessionId, planned + 1);
  return null;
}
