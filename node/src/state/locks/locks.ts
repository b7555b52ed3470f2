/**
 * Locks: create, acquire, renew, downgrade, upgrade, release, force, expire, cancel, delete.
 *
 * The token of a hold is the revision of its grant, so tokens always grow. Time takes effect only through entries: a
 * hold whose deadline has passed is live until the entry that expires it, and apply checks that entry again (S21, S22).
 */

import { equalBytes } from "../../bytes/index.ts";
import { invariant } from "../../primitives/index.ts";
import {
  type AnswerSlot,
  type ApplyContext,
  attempt,
  badField,
  type Claim,
  CoordinationError,
  claimOf,
  clientOperation,
  clusterStep,
  continuedOperation,
  count,
  type Field,
  fixedBytes,
  flag,
  type Hold,
  holdField,
  isReadWrite,
  LOCK_NAME,
  LOCK_OPERATION,
  type LockMode,
  type LockName,
  listOf,
  lockMode,
  lockName,
  nullable,
  nullInstead,
  type Outcome,
  operationByContent,
  optional,
  orEmpty,
  type Principal,
  REQUEST_ID_BYTES,
  type RequestIdentity,
  readClaim,
  recordOf,
  refusalIn,
  requireNamespace,
  type StateReader,
  text,
  VERSION_WITH_SEMAPHORES,
  VERSION_WITH_TRANSACTIONS,
  writeClaim,
} from "../core/index.ts";
import {
  type Acquisition,
  answerSlot,
  changeAcquisition,
  isSameAttempt,
  readAcquisition,
  storeAcquisition,
  storeAnswer,
  storedRequestAt,
} from "../replay/index.ts";
import { requireOwnSession, requireRoom } from "../sessions/index.ts";
import {
  type AcquireLock,
  type AcquireLockResult,
  type CancelAcquisition,
  type CreateLock,
  type CreateLockResult,
  type DeleteLock,
  type DeleteLockResult,
  type ExpireLocks,
  type ForceReleaseLock,
  type ForceReleaseLockResult,
  type LockTimer,
  type QueuedLockResult,
  type ReleaseLock,
  type ReleaseLockResult,
  timerKind,
} from "./lock-commands.ts";
import {
  answerTimeout,
  endHolds,
  endWait,
  grant,
  grantWaiting,
  holdDeadlineMs,
  isGrantable,
  onDowngraded,
  startDelay,
  upgradeHold,
} from "./lock-grants.ts";
import { claimOfRenewal, goneSince, lockInUse, lockLost, superseded, tooManyPermits } from "./lock-refusals.ts";
import {
  addWait,
  eraseLock,
  findLock,
  isInUse,
  type Lock,
  lockKind,
  lockNotFound,
  type NamedLock,
  quote,
  readHold,
  readHolds,
  readLock,
  readWait,
  removeWait,
  replaceHold,
  replaceWait,
  requireLock,
  requireLockOf,
  setDelay,
  splitHoldThing,
  visitNextWaits,
  type Wait,
  waitsOf,
  writeLock,
} from "./lock-rows.ts";
import { acquireResult, answerViewOf } from "./lock-view.ts";

/** Free bytes that a new lock needs: for its row, and for one hold, so that the lock can be used. */
const LOCK_BYTES_ABOUT = 1024;

export const createLockOperation = clientOperation<CreateLock, CreateLockResult>({
  kind: "create-lock",
  number: 20,
  access: "write",
  grows: true,
  usage: LOCK_OPERATION,
  fields: { ...LOCK_NAME, ttlSeconds: count, lockDelaySeconds: count },
  answer: { number: 20, fields: { createdAtMs: count } },
  apply: applyCreateLock,
});

/** A retry of it has no stored answer: it continues where the request is (S24). */
export const acquireLockOperation = continuedOperation<AcquireLock>({
  kind: "acquire-lock",
  number: 21,
  access: "write",
  // The renewal of a live hold is allowed, however full the disk is.
  grows: ({ fencingToken }) => fencingToken === 0,
  // A downgrade lets in all readers that wait.
  rows: (reader, operation) =>
    operation.mode === "read" && operation.fencingToken !== 0 ? readersOf(reader, { ...operation, rw: true }) : 0,
  usage: LOCK_OPERATION,
  fields: acquireLockField(),
  applyRequest: applyAcquireLock,
});

export const releaseLockOperation = clientOperation<ReleaseLock, ReleaseLockResult>({
  kind: "release-lock",
  number: 22,
  access: "write",
  rows: readersOf,
  usage: LOCK_OPERATION,
  fields: { ...LOCK_NAME, mode: nullInstead(orEmpty(lockMode, "exclusive")), owner: text, fencingToken: count },
  answer: { number: 21, fields: {} },
  apply: applyReleaseLock,
});

export const forceReleaseLockOperation = clientOperation<ForceReleaseLock, ForceReleaseLockResult>({
  kind: "force-release-lock",
  number: 23,
  access: "admin",
  rows: readersOf,
  usage: LOCK_OPERATION,
  fields: { ...LOCK_NAME, fencingToken: count, reason: text },
  answer: { number: 22, fields: { previous: nullable(holdField) } },
  apply: applyForceReleaseLock,
});

/** With force it needs more access than without. */
export const deleteLockOperation = operationByContent<DeleteLock, DeleteLockResult>({
  kind: "delete-lock",
  number: 81,
  accessOf: ({ force }) => (force ? "admin" : "write"),
  since: VERSION_WITH_TRANSACTIONS,
  rows: (reader, lockName) => {
    const lock = readLock(reader, lockName);
    return lock === undefined ? 0 : lock.readers + waitsOf(lock);
  },
  usageOf: () => LOCK_OPERATION,
  fields: { ...LOCK_NAME, force: flag, semaphore: optional(flag) },
  answer: { number: 81, fields: {} },
  apply: applyDeleteLock,
});

/** Acquires permits of a semaphore, or renews a hold of one; or acquires an exclusive lock with a value. */
export const acquireClaimOperation = { ...acquireLockOperation, since: VERSION_WITH_SEMAPHORES };

/** Releases a hold of a semaphore. */
export const releasePermitsOperation = { ...releaseLockOperation, since: VERSION_WITH_SEMAPHORES };

export const expireLocksOperation = clusterStep<ExpireLocks>({
  kind: "expire-locks",
  number: 24,
  fields: { timers: listOf(recordOf<LockTimer>({ about: timerKind, lock: lockName, number: count })) },
  apply: applyExpireLocks,
});

export const cancelAcquisitionOperation = clusterStep<CancelAcquisition>({
  kind: "cancel-acquisition",
  number: 25,
  fields: { subject: text, requestId: fixedBytes(REQUEST_ID_BYTES), attempt },
  apply: applyCancelAcquisition,
});

/**
 * The readers of a read-write lock, or the holds of a semaphore, and those that wait, whom the end of a hold lets in: the
 * bytes of an operation do not show that it may concern all of them.
 */
function readersOf(reader: StateReader, lockName: LockName): number {
  const lock = readLock(reader, lockName);
  if (lock === undefined) {
    return 0;
  }
  return lock.readers + (lock.permits > 0 ? waitsOf(lock) : lock.waitingReaders);
}

/** The claim makes the one byte of a mode longer, if it has more. */
function acquireLockField(): Field<AcquireLock> {
  return {
    write: (writer, operation) => {
      writer.text(operation.namespace).text(operation.name);
      writeClaim(writer, operation);
      writer.uint53(operation.ttlSeconds).text(operation.owner).uint53(operation.waitMs).uint53(operation.fencingToken);
    },
    read: (reader) => ({
      kind: "acquire-lock",
      namespace: reader.name(),
      name: reader.text(),
      ...readClaim(reader),
      ttlSeconds: reader.uint53(),
      owner: reader.text(),
      waitMs: reader.uint53(),
      fencingToken: reader.uint53(),
    }),
  };
}

function applyCreateLock(context: ApplyContext, command: CreateLock): CreateLockResult {
  return { kind: "create-lock", ...addLock(context, { ...command, permits: 0 }) };
}

/** Adds a free lock; raises LOCK_EXISTS or QUOTA. */
export function addLock(
  context: ApplyContext,
  asked: LockName & Pick<Lock, "ttlSeconds" | "lockDelaySeconds" | "permits">,
): { readonly createdAtMs: number; readonly revision: number } {
  const { namespace, rw, name, ttlSeconds, lockDelaySeconds, permits } = asked;
  requireNamespace(context.transaction, namespace);
  const existing = readLock(context.transaction, asked);
  if (existing !== undefined) {
    throw new CoordinationError("LOCK_EXISTS", `${lockKind(existing)} ${quote(existing)} exists already`);
  }
  context.requireNamespaceQuota(namespace, LOCK_BYTES_ABOUT);
  context.accounts.of(namespace).requireQuota("locks", 1);
  const revision = context.nextRevision();
  const lock: Lock = {
    namespace,
    rw,
    name,
    id: revision,
    createdAtMs: context.wallMs,
    ttlSeconds,
    lockDelaySeconds,
    lastToken: 0,
    exclusiveToken: 0,
    readers: 0,
    waitingReaders: 0,
    waitingWriters: 0,
    delayUntilMs: 0,
    permits,
    heldPermits: 0,
  };
  context.countDataIn(namespace, writeLock(context, lock));
  context.accounts.of(namespace).count("locks", 1);
  return { createdAtMs: context.wallMs, revision };
}

// ---- Acquiring ----

interface AcquireCommand {
  readonly principal: Principal;
  readonly request: RequestIdentity;
  readonly operation: AcquireLock;
}

/** Acquires a lock, or continues an earlier attempt of the same request (S24). */
function applyAcquireLock(context: ApplyContext, command: AcquireCommand): Outcome {
  const { principal, request } = command;
  const slot = answerSlot(context, principal.subject, request);
  const found = storedRequestAt(context, slot, request);
  if (found !== null && "outcome" in found) {
    return found.outcome;
  }
  if (found !== null && found.acquisition.status !== "cancelled") {
    return continueAcquisition(context, command, found.acquisition);
  }
  try {
    return beginAcquisition(context, command, slot);
  } catch (error) {
    const refusal = refusalIn(error);
    storeAnswer(context, slot, request, refusal);
    return { answer: refusal, replayed: "no" };
  }
}

function beginAcquisition(context: ApplyContext, command: AcquireCommand, slot: AnswerSlot): Outcome {
  const { principal, request, operation } = command;
  const lockName = nameOf(operation);
  requireNamespace(context.transaction, lockName.namespace);
  const lock = requireLockOf(context.transaction, lockName, operation.mode === "permits");
  if (operation.fencingToken !== 0) {
    return changeHold(context, lock, command, slot);
  }
  const { permits = 0, value, sessionId } = operation;
  if (permits > lock.permits) {
    throw tooManyPermits(lock, permits);
  }
  if (sessionId !== undefined) {
    if (operation.ttlSeconds !== 0) {
      throw badField("ttl_seconds", "must be 0 with session_id: the hold ends with the session");
    }
    requireOwnSession(context.transaction, lock.namespace, sessionId, principal.subject);
    requireRoom(context, lock.namespace, null, { sessionId, bytes: 0 });
  }
  const isFirst = waitsOf(lock) === 0;
  const stored = { lock: lockName, attempt: context.origin };
  if (isFirst && isGrantable(context, lock, operation)) {
    context.requireNamespaceQuota(lock.namespace, LOCK_BYTES_ABOUT + (value?.length ?? 0));
    const hold = grant(context, lock, lockRequestOf(lock, principal, request, operation));
    writeLock(context, lock);
    storeAcquisition(context, slot, request, { ...stored, status: "granted", number: hold.token }, true);
    return answered(context, lock, hold);
  }
  if (operation.waitMs === 0) {
    storeAcquisition(context, slot, request, { ...stored, status: "not-acquired", number: 0 }, false);
    return answered(context, lock, null);
  }
  requireWaitCapacity(context, lock);
  const wait = waitOf(context, lock, command);
  addWait(context, lock, wait);
  writeLock(context, lock);
  storeAcquisition(context, slot, request, { ...stored, status: "queued", number: wait.position }, true);
  return queued(context);
}

/** An earlier attempt began the request; this one takes its place. */
function continueAcquisition(context: ApplyContext, command: AcquireCommand, acquisition: Acquisition): Outcome {
  const { principal, request } = command;
  const lock = findLock(context.transaction, acquisition.lock);
  if (lock === undefined) {
    return { answer: goneSince(acquisition), replayed: "yes" };
  }
  const { subject } = principal;
  switch (acquisition.status) {
    case "queued": {
      const before = readWait(context.transaction, lock, acquisition.number) as Wait;
      const { askedMs, deadlineMs } = waitOf(context, lock, command);
      replaceWait(context, lock, before, { ...before, principal, askedMs, deadlineMs });
      changeAcquisition(context, subject, request.requestId, { attempt: context.origin }, true);
      const outcome: Outcome = { answer: superseded(), replayed: "no" };
      context.endWait({ attempt: acquisition.attempt, outcome });
      return { ...queued(context), replayed: "yes" };
    }
    case "granted": {
      const hold = readHold(context.transaction, lock, acquisition.number);
      if (hold === undefined) {
        return { answer: lockLost(acquisition.lock, acquisition.number), replayed: "yes" };
      }
      if (isSameRequest(hold, request)) {
        changeAcquisition(context, subject, request.requestId, { attempt: context.origin }, true);
      }
      return { ...answered(context, lock, hold), replayed: "yes" };
    }
    default:
      return { ...answered(context, lock, null), replayed: "yes" };
  }
}

/** Renews the hold with the token, downgrades it, or upgrades it. */
function changeHold(
  context: ApplyContext,
  lock: Lock,
  { principal, request, operation }: AcquireCommand,
  slot: AnswerSlot,
): Outcome {
  const { mode, owner, fencingToken } = operation;
  const before = readHold(context.transaction, lock, fencingToken);
  if (before === undefined) {
    throw lockLost(lock, fencingToken);
  }
  requireHolder(lock, before, principal, owner);
  const refusal = claimOfRenewal(operation, before);
  if (refusal !== null) {
    throw refusal;
  }
  const isUpgrade = before.mode === "read" && mode === "write";
  const ttlSeconds = ttlSecondsOf(lock, before, operation);
  const hold = isUpgrade
    ? upgrade(context, lock, before, request, ttlSeconds)
    : renew(context, lock, before, mode, ttlSeconds);
  const stored = { lock: nameOf(operation), status: "granted", number: hold.token } as const;
  // The stored state of a renewal has a window from now on; that of the acquisition lives with the hold.
  storeAcquisition(context, slot, request, { ...stored, attempt: context.origin }, isUpgrade);
  const isDowngrade = before.mode === "write" && mode === "read";
  if (isDowngrade) {
    onDowngraded(context, lock, hold);
  } else if (!isUpgrade) {
    // The remaining time of a hold is visible, so this is a revision like others, although watchers get no change.
    context.nextRevision();
  }
  // The answer is as of the change itself: waiters that a downgrade lets in get later revisions.
  const outcome = answered(context, lock, hold);
  if (isDowngrade) {
    grantWaiting(context, lock);
  }
  writeLock(context, lock);
  return outcome;
}

function renew(context: ApplyContext, lock: Lock, before: Hold, mode: LockMode, ttlSeconds: number): Hold {
  const hold = { ...before, mode, ttlSeconds, deadlineMs: holdDeadlineMs(context, { ...before, ttlSeconds }) };
  replaceHold(context, lock, before, hold);
  return hold;
}

/** Refused unless possible at once: two readers that wait for each other would wait for ever (S29). */
function upgrade(
  context: ApplyContext,
  lock: Lock,
  before: Hold,
  { requestId }: RequestIdentity,
  ttlSeconds: number,
): Hold {
  const isAlone = lock.readers === 1 && lock.waitingReaders + lock.waitingWriters === 0;
  if (!isAlone || lock.delayUntilMs !== 0) {
    const why = isAlone ? "its delay after an expired hold has not ended" : "others read or wait";
    throw new CoordinationError(
      "UPGRADE_WOULD_DEADLOCK",
      `hold ${before.token} of ${lockKind(lock)} ${quote(lock)} cannot be upgraded, because ${why}; it stays as it is`,
    );
  }
  const { owner, subject } = before;
  const claim: Claim = { ...claimOf(before), mode: "write" };
  return upgradeHold(context, lock, before, { owner, subject, requestId, ttlSeconds, ...claim });
}

// ---- Releasing ----

/** Releases a hold; raises NOT_LOCK_HOLDER or AMBIGUOUS_HOLD, and then changes nothing (S26). */
function applyReleaseLock(context: ApplyContext, command: ReleaseLock, principal: Principal): ReleaseLockResult {
  const { lock, hold } = holdToRelease(context, command, principal);
  const revision = endHolds(context, lock, [hold], "normal");
  grantWaiting(context, lock);
  writeLock(context, lock);
  return { kind: "release-lock", revision };
}

/** The hold that the command releases, and its lock. Changes nothing. */
export function holdToRelease(
  context: ApplyContext,
  command: ReleaseLock,
  principal: Principal,
): { readonly lock: Lock; readonly hold: Hold } {
  requireNamespace(context.transaction, command.namespace);
  const lock = requireLock(context.transaction, command);
  return { lock, hold: holdOf(context, lock, principal, command) };
}

/** Ends a hold that the caller has got from `holdToRelease`. The caller must call `passOn` later in the entry. */
export function endReleased(context: ApplyContext, lockName: LockName, { token }: Hold): void {
  const lock = requireLock(context.transaction, lockName);
  const hold = readHold(context.transaction, lock, token);
  invariant(hold !== undefined, "a hold that was checked is there until it ends");
  endHolds(context, lock, [hold], "normal");
  writeLock(context, lock);
}

/**
 * Ends a hold that belongs to a session, because the session ends. Returns its lock; the caller must call `passOn` for it
 * later in the entry.
 *
 * @param thing of the hold.
 */
export function endOwnedHold(context: ApplyContext, thing: Uint8Array, reason: "normal" | "expired"): LockName {
  const { name, token } = splitHoldThing(thing);
  const lock = requireLock(context.transaction, name);
  const hold = readHold(context.transaction, lock, token);
  invariant(hold !== undefined, "a hold that belongs to a session is there");
  endHolds(context, lock, [hold], reason);
  if (reason === "expired") {
    startDelay(context, lock);
  }
  writeLock(context, lock);
  return name;
}

/** Grants the lock to the requests that are next. */
export function passOn(context: ApplyContext, lockName: LockName): void {
  const lock = requireLock(context.transaction, lockName);
  grantWaiting(context, lock);
  writeLock(context, lock);
}

function holdOf(context: ApplyContext, lock: Lock, principal: Principal, command: ReleaseLock): Hold {
  const { owner, mode, fencingToken } = command;
  if (fencingToken !== 0) {
    const hold = readHold(context.transaction, lock, fencingToken);
    if (hold === undefined || (mode !== null && hold.mode !== mode)) {
      throw notHolder(lock);
    }
    requireHolder(lock, hold, principal, owner);
    return hold;
  }
  const wanted = owner === "" ? principal.subject : owner;
  const [hold, ...others] = readHolds(context.transaction, lock).filter((one) => {
    return one.subject === principal.subject && one.owner === wanted && (mode === null || one.mode === mode);
  });
  if (hold === undefined) {
    throw notHolder(lock);
  }
  if (others.length > 0) {
    throw new CoordinationError(
      "AMBIGUOUS_HOLD",
      `${others.length + 1} holds of ${lockKind(lock)} ${quote(lock)} match; name one by its fencing_token`,
    );
  }
  return hold;
}

/** Takes the lock from all holders, or from the holder with the token. */
function applyForceReleaseLock(context: ApplyContext, command: ForceReleaseLock): ForceReleaseLockResult {
  requireNamespace(context.transaction, command.namespace);
  const lock = requireLock(context.transaction, command);
  const holds = readHolds(context.transaction, lock).filter(({ token }) => {
    return command.fencingToken === 0 || token === command.fencingToken;
  });
  const [previous = null] = holds;
  if (previous === null) {
    return { kind: "force-release-lock", previous, revision: context.revision };
  }
  const revision = endHolds(context, lock, holds, "forced");
  startDelay(context, lock);
  grantWaiting(context, lock);
  writeLock(context, lock);
  return { kind: "force-release-lock", previous, revision };
}

/** Removes the lock; raises NOT_EMPTY for a lock in use, unless with force. */
function applyDeleteLock(context: ApplyContext, command: DeleteLock): DeleteLockResult {
  requireNamespace(context.transaction, command.namespace);
  const lock = requireLockOf(context.transaction, command, command.semaphore ?? false);
  if (isInUse(lock) && !command.force) {
    throw lockInUse(lock);
  }
  return { kind: "delete-lock", revision: removeLock(context, lock) };
}

/** Removes the lock with all that it has, answers the requests that wait for it, and returns the revision. */
function removeLock(context: ApplyContext, lock: Lock): number {
  const holds = readHolds(context.transaction, lock);
  const revision = holds.length === 0 ? context.nextRevision() : endHolds(context, lock, holds, "forced");
  removeUnheld(context, lock, lockNotFound(lock));
  return revision;
}

/** Removes a lock without holds, and answers the requests that wait for it. */
export function removeUnheld(context: ApplyContext, lock: Lock, answer: CoordinationError): void {
  const waits: Wait[] = [];
  visitNextWaits(context, lock, (wait) => waits.push(wait) > 0);
  for (const wait of waits) {
    removeWait(context, lock, wait);
    const attempt = endWait(context, wait, "cancelled");
    context.endWait({ attempt, outcome: { answer, replayed: "no" } });
  }
  setDelay(context, lock, 0);
  eraseLock(context, lock);
}

// ---- What the cluster does by itself ----

/** Ends the named timers that still exist and whose time is up (S22). */
function applyExpireLocks(context: ApplyContext, { timers }: ExpireLocks): void {
  for (const timer of timers) {
    const lock = readLock(context.transaction, timer.lock);
    if (lock !== undefined && expire(context, lock, timer)) {
      grantWaiting(context, lock);
      writeLock(context, lock);
    }
  }
}

/**
 * Returns whether anything changed. Ticks are rounded down, so a deadline has passed only when the tick is above it
 * (S21).
 */
function expire(context: ApplyContext, lock: Lock, { about, number }: LockTimer): boolean {
  const { transaction, tickMs } = context;
  switch (about) {
    case "hold": {
      const hold = readHold(transaction, lock, number);
      if (hold === undefined || hold.deadlineMs >= tickMs) {
        return false;
      }
      endHolds(context, lock, [hold], "expired");
      startDelay(context, lock);
      return true;
    }
    case "wait": {
      const wait = readWait(transaction, lock, number);
      if (wait === undefined || wait.deadlineMs >= tickMs) {
        return false;
      }
      removeWait(context, lock, wait);
      answerTimeout(context, lock, wait);
      return true;
    }
    case "delay":
      if (lock.delayUntilMs === 0 || lock.delayUntilMs >= tickMs) {
        return false;
      }
      setDelay(context, lock, 0);
      return true;
  }
}

/**
 * Undoes an acquisition whose caller is gone, if this attempt is its newest. It leaves the queue, or releases the
 * granted hold, which no caller has heard of, without a delay (S25).
 */
function applyCancelAcquisition(context: ApplyContext, command: CancelAcquisition): void {
  const { subject, requestId, attempt } = command;
  const acquisition = readAcquisition(context, subject, requestId);
  if (acquisition === undefined || !isSameAttempt(acquisition.attempt, attempt)) {
    return;
  }
  const lock = requireLock(context.transaction, acquisition.lock);
  if (acquisition.status === "queued") {
    removeWait(context, lock, readWait(context.transaction, lock, acquisition.number) as Wait);
    changeAcquisition(context, subject, requestId, { status: "cancelled", number: 0 }, false);
  } else if (acquisition.status === "granted") {
    const hold = readHold(context.transaction, lock, acquisition.number);
    if (hold === undefined || !isSameRequest(hold, { requestId })) {
      return;
    }
    endHolds(context, lock, [hold], "normal", "cancelled");
  } else {
    return;
  }
  grantWaiting(context, lock);
  writeLock(context, lock);
}

// ---- Shared ----

function answered(context: ApplyContext, lock: Lock, hold: Hold | null) {
  const { tickMs, revision } = context;
  const answer: AcquireLockResult = acquireResult(answerViewOf(context.transaction, lock), hold, {
    tickMs,
    revision,
    waitedMs: 0,
  });
  return { answer, replayed: "no" as const };
}

function queued(context: ApplyContext): Outcome {
  const answer: QueuedLockResult = { kind: "queued-lock", revision: context.revision };
  return { answer, replayed: "no" };
}

function nameOf({ namespace, name, mode }: AcquireLock): LockName {
  return { namespace, name, rw: isReadWrite({ mode }) };
}

function lockRequestOf(lock: Lock, principal: Principal, { requestId }: RequestIdentity, operation: AcquireLock) {
  return {
    requestId,
    subject: principal.subject,
    owner: operation.owner === "" ? principal.subject : operation.owner,
    ...claimOf(operation),
    ttlSeconds: ttlSecondsOf(lock, operation, operation),
  };
}

/** The life of a hold with this claim; 0 = it ends with its session. */
function ttlSecondsOf(lock: Lock, { sessionId }: Claim, { ttlSeconds }: AcquireLock): number {
  if (sessionId !== undefined) {
    return 0;
  }
  return ttlSeconds === 0 ? lock.ttlSeconds : ttlSeconds;
}

function waitOf(context: ApplyContext, lock: Lock, { principal, request, operation }: AcquireCommand): Wait {
  const { subject: _, ...asked } = lockRequestOf(lock, principal, request, operation);
  const { tickMs, index } = context;
  const deadlineMs = tickMs + operation.waitMs;
  return { position: index, principal, ...asked, askedMs: tickMs, deadlineMs };
}

function requireWaitCapacity(context: ApplyContext, lock: Lock): void {
  const { lockWaitsMax } = context.limits;
  if (waitsOf(lock) >= lockWaitsMax) {
    throw new CoordinationError("QUOTA", `${lockWaitsMax} requests wait for ${lockKind(lock)} ${quote(lock)} already`);
  }
}

/** A token counts only for the subject that got it, and for its owner if the request names one (S26). */
export function requireHolder(lock: Lock, hold: Hold, { subject }: Principal, owner: string): void {
  if (hold.subject !== subject || (owner !== "" && hold.owner !== owner)) {
    throw notHolder(lock);
  }
}

function isSameRequest(hold: Hold, { requestId }: Pick<RequestIdentity, "requestId">): boolean {
  return equalBytes(hold.requestId, requestId);
}

function notHolder(lock: NamedLock): CoordinationError {
  return new CoordinationError(
    "NOT_LOCK_HOLDER",
    `the caller does not hold ${lockKind(lock)} ${quote(lock)} like that`,
  );
}
