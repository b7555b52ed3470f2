/**
 * Rows of locks: the lock itself, its live holds, and its waits in order of arrival.
 *
 * The revision of the creation of a lock is its id, which holds and waits refer to: a lock that is created again under
 * the same name has another one. Each hold and each wait has its own row, so a change costs the same however many there
 * are. Everything with a deadline has a timer row, to find what is due; the deadline that counts is in the row of the
 * object itself.
 */

import { invariant } from "../../primitives/index.ts";
import {
  type ApplyContext,
  type Claim,
  CoordinationError,
  type Hold,
  type LockMode,
  type LockName,
  lockHoldRow,
  lockRow,
  lockTimerRow,
  lockWaitRow,
  namespaceRefusalOf,
  type Principal,
  REQUEST_ID_BYTES,
  RecordReader,
  RecordWriter,
  readClaim,
  readHoldFields,
  readPrincipal,
  type StateReader,
  splitLockRow,
  tableRange,
  writeClaim,
  writeHoldFields,
  writePrincipal,
} from "../core/index.ts";
import { changeBelonging, type Thing } from "../sessions/index.ts";
import { codeOfTimer, type LockTimer, timerKind } from "./lock-commands.ts";

/** A lock as one entry reads and changes it; `writeLock` stores the changes. */
export interface Lock extends LockName {
  /** Revision of its creation. */
  readonly id: number;
  readonly createdAtMs: number;
  readonly ttlSeconds: number;
  readonly lockDelaySeconds: number;
  /** Token of the latest hold; 0 = the lock was never held. */
  lastToken: number;
  /** Token of the live exclusive or writing hold; 0 = none. */
  exclusiveToken: number;
  /** Live reading holds; of a semaphore, all live holds. */
  readers: number;
  waitingReaders: number;
  /** Waits for an exclusive or a writing hold, or for permits. */
  waitingWriters: number;
  /** Cluster tick in milliseconds until which no caller gets it exclusively; 0 = no delay runs. An entry ends it. */
  delayUntilMs: number;
  /** Permits of a semaphore; 0 = it is no semaphore. */
  permits: number;
  /** Permits that the live holds have together. After `permits` was lowered, they may be more than it. */
  heldPermits: number;
}

/** A request that waits for a lock. */
export interface Wait extends Claim {
  /** Log index of the entry that added it. */
  readonly position: number;
  readonly principal: Principal;
  readonly requestId: Uint8Array;
  readonly owner: string;
  readonly ttlSeconds: number;
  /** Cluster tick of the newest attempt, in milliseconds. */
  readonly askedMs: number;
  /** Cluster tick in milliseconds after which it ends without a hold. */
  readonly deadlineMs: number;
}

// ---- Locks ----

export function readLock(reader: StateReader, lockName: LockName): Lock | undefined {
  const bytes = reader.get(lockRow(lockName.namespace, lockName.rw, lockName.name));
  return bytes === undefined ? undefined : decodeLock(lockName, bytes);
}

/** The same for a request: undefined also while the namespace of the lock is being deleted. */
export function findLock(reader: StateReader, lockName: LockName): Lock | undefined {
  return namespaceRefusalOf(reader, lockName.namespace) === null ? readLock(reader, lockName) : undefined;
}

/** The lock from the bytes of its row. */
export function decodeLock({ namespace, rw, name }: LockName, bytes: Uint8Array): Lock {
  const fields = new RecordReader(bytes);
  const lock = {
    namespace,
    rw,
    name,
    id: fields.uint53(),
    createdAtMs: fields.uint53(),
    ttlSeconds: fields.uint53(),
    lockDelaySeconds: fields.uint53(),
    lastToken: fields.uint53(),
    exclusiveToken: fields.uint53(),
    readers: fields.uint53(),
    waitingReaders: fields.uint53(),
    waitingWriters: fields.uint53(),
    delayUntilMs: fields.uint53(),
  };
  const [permits, heldPermits] = fields.hasMore ? [fields.uint53(), fields.uint53()] : [0, 0];
  fields.end();
  return { ...lock, permits, heldPermits };
}

/** The lock; raises LOCK_NOT_FOUND. The caller has checked the namespace. */
export function requireLock(reader: StateReader, lockName: LockName): Lock {
  const lock = readLock(reader, lockName);
  if (lock === undefined) {
    throw lockNotFound(lockName);
  }
  return lock;
}

/** The same for a lock of one kind: exclusive locks and semaphores share their names. */
export function requireLockOf(reader: StateReader, lockName: LockName, isSemaphore: boolean): Lock {
  const lock = requireLock(reader, lockName);
  if (lock.permits > 0 === isSemaphore) {
    return lock;
  }
  throw new CoordinationError(
    "LOCK_NOT_FOUND",
    `${quote(lock)} is ${isSemaphore ? "a lock, not a semaphore" : "a semaphore, not a lock"}`,
  );
}

export function lockNotFound(lock: NamedLock): CoordinationError {
  return new CoordinationError("LOCK_NOT_FOUND", `${lockKind(lock)} ${quote(lock)} does not exist`);
}

/** Writes the lock and returns the bytes of its row, which never change. */
export function writeLock(context: ApplyContext, lock: Lock): number {
  const key = lockRow(lock.namespace, lock.rw, lock.name);
  const value = encodeLock(lock);
  context.transaction.put(key, value);
  return key.length + value.length;
}

/** Removes the row of a lock that has no holds, waits or delay any more. */
export function eraseLock(context: ApplyContext, lock: Lock): void {
  requireIdle(lock);
  const key = lockRow(lock.namespace, lock.rw, lock.name);
  context.transaction.delete(key);
  context.countDataIn(lock.namespace, -key.length - encodeLock(lock).length);
  context.accounts.of(lock.namespace).count("locks", -1);
  context.firstWaits.delete(lock.id);
}

/** Raises an InvariantViolation if the lock has holds, waits or a delay. */
export function requireIdle(lock: Lock): void {
  invariant(!isInUse(lock), "the lock has no holds, waits or delay", () => JSON.stringify(lock));
}

/** Whether the lock has holds, waits or a delay. */
export function isInUse({ exclusiveToken, readers, waitingReaders, waitingWriters, delayUntilMs }: Lock): boolean {
  return exclusiveToken + readers + waitingReaders + waitingWriters + delayUntilMs > 0;
}

function encodeLock(lock: Lock): Uint8Array {
  const writer = new RecordWriter()
    .uint53(lock.id)
    .uint53(lock.createdAtMs)
    .uint53(lock.ttlSeconds)
    .uint53(lock.lockDelaySeconds)
    .uint53(lock.lastToken)
    .uint53(lock.exclusiveToken)
    .uint53(lock.readers)
    .uint53(lock.waitingReaders)
    .uint53(lock.waitingWriters)
    .uint53(lock.delayUntilMs);
  return (lock.permits === 0 ? writer : writer.uint53(lock.permits).uint53(lock.heldPermits)).finish();
}

/** A lock that may be known by its name alone. */
export type NamedLock = LockName & Partial<Pick<Lock, "permits">>;

/** The name of this kind of lock in messages. */
export function lockKind({ rw, permits = 0 }: NamedLock): string {
  return permits > 0 ? "semaphore" : rw ? "read-write lock" : "lock";
}

export function quote({ namespace, name }: LockName): string {
  return JSON.stringify(`${namespace}/${name}`);
}

// ---- Holds ----

/** The live hold with the token. */
export function readHold(reader: StateReader, lock: Lock, token: number): Hold | undefined {
  const bytes = reader.get(lockHoldRow(lock.id, token));
  return bytes === undefined ? undefined : decodeHold(token, bytes);
}

/** All live holds in the order of their grants. */
export function readHolds(reader: StateReader, lock: Lock): readonly Hold[] {
  const holds = readFirstHolds(reader, lock, Number.POSITIVE_INFINITY);
  const count = lock.exclusiveToken === 0 ? lock.readers : 1;
  invariant(holds.length === count, "a lock counts its readers", () => `${holds.length}, not ${count}`);
  return holds;
}

/** The first live holds in the order of their grants, at most this many, at least 1. */
export function readFirstHolds(reader: StateReader, lock: Lock, countMax: number): readonly Hold[] {
  if (lock.exclusiveToken !== 0) {
    const hold = readHold(reader, lock, lock.exclusiveToken);
    invariant(hold !== undefined, "the hold that a lock names is there");
    return [hold];
  }
  const holds: Hold[] = [];
  if (lock.readers > 0) {
    const end = lockHoldRow(lock.id + 1, 0);
    reader.scan(lockHoldRow(lock.id, 0), end, ({ key, value }) => {
      holds.push(decodeHold(numberAtEnd(key), value));
      return holds.length < countMax;
    });
  }
  return holds;
}

export function addHold(context: ApplyContext, lock: Lock, hold: Hold): void {
  context.countDataIn(lock.namespace, putHold(context, lock, hold));
  context.countTotal("lockHolds", 1);
  if (hold.sessionId !== undefined) {
    changeBelonging(context, lock.namespace, thingOf(lock, hold), null, { sessionId: hold.sessionId, bytes: 0 });
  }
  addHoldTimer(context, lock, hold);
}

/** Changes the mode of a hold and its times; both have the same length. */
export function replaceHold(context: ApplyContext, lock: Lock, before: Hold, after: Hold): void {
  putHold(context, lock, after);
  removeHoldTimer(context, lock, before);
  addHoldTimer(context, lock, after);
}

/** Changes the value of a hold. */
export function replaceValue(context: ApplyContext, lock: Lock, before: Hold, after: Hold): void {
  context.countDataIn(lock.namespace, putHold(context, lock, after) - lockHoldBytes(lock, before));
}

export function removeHold(context: ApplyContext, lock: Lock, hold: Hold): void {
  context.transaction.delete(lockHoldRow(lock.id, hold.token));
  context.countTotal("lockHolds", -1);
  context.countDataIn(lock.namespace, -lockHoldBytes(lock, hold));
  if (hold.sessionId !== undefined) {
    changeBelonging(context, lock.namespace, thingOf(lock, hold), { sessionId: hold.sessionId, bytes: 0 }, null);
  }
  removeHoldTimer(context, lock, hold);
}

/** A hold that ends with its session has no timer of its own. */
function addHoldTimer(context: ApplyContext, lock: Lock, { token, deadlineMs }: Hold): void {
  if (deadlineMs !== 0) {
    addTimer(context, lock, { about: "hold", number: token, deadlineMs });
  }
}

function removeHoldTimer(context: ApplyContext, lock: Lock, { token, deadlineMs }: Hold): void {
  if (deadlineMs !== 0) {
    removeTimer(context, lock, { about: "hold", number: token, deadlineMs });
  }
}

/** The hold as its session knows it. */
function thingOf({ namespace, rw, name }: LockName, { token }: Hold): Thing {
  const row = new RecordWriter()
    .plainBytes(lockRow(namespace, rw, name))
    .uint53(token)
    .finish();
  return { about: "hold", row };
}

/** The lock and the token of a hold that a session knows. */
export function splitHoldThing(row: Uint8Array): { readonly name: LockName; readonly token: number } {
  return { name: splitLockRow(row.subarray(0, -NUMBER_BYTES)), token: numberAtEnd(row) };
}

function putHold(context: ApplyContext, lock: Lock, hold: Hold): number {
  const key = lockHoldRow(lock.id, hold.token);
  const value = encodeHold(hold);
  context.transaction.put(key, value);
  return key.length + value.length;
}

function lockHoldBytes(lock: Lock, hold: Hold): number {
  return lockHoldRow(lock.id, hold.token).length + encodeHold(hold).length;
}

function encodeHold(hold: Hold): Uint8Array {
  const writer = new RecordWriter();
  writeHoldFields(writer, hold);
  return writer.finish();
}

function decodeHold(token: number, bytes: Uint8Array): Hold {
  const reader = new RecordReader(bytes);
  const hold = { token, ...readHoldFields(reader) };
  reader.end();
  return hold;
}

// ---- Waits ----

/** Locks whose first waits are known. Above it, they are found again. */
const FIRST_WAITS_MAX = 10_000;

export function readWait(reader: StateReader, lock: Lock, position: number): Wait | undefined {
  const bytes = reader.get(lockWaitRow(lock.id, position));
  return bytes === undefined ? undefined : decodeWait(position, bytes);
}

/**
 * Calls `visit` for the waits, the oldest first, until it returns false. It must not change the state.
 *
 * @param from a position; no wait has a smaller one.
 */
export function visitWaits(reader: StateReader, lock: Lock, visit: (wait: Wait) => boolean, from = 0): void {
  if (waitsOf(lock) > 0) {
    const end = lockWaitRow(lock.id + 1, 0);
    reader.scan(lockWaitRow(lock.id, from), end, ({ key, value }) => visit(decodeWait(numberAtEnd(key), value)));
  }
}

/**
 * The same while an entry is applied: without the rows of waits that have ended, over which a scan from the beginning
 * would have to step. A lock that many want has thousands of them.
 */
export function visitNextWaits(context: ApplyContext, lock: Lock, visit: (wait: Wait) => boolean): void {
  const { transaction, firstWaits } = context;
  let isFirst = true;
  const visitNext = (wait: Wait): boolean => {
    if (isFirst) {
      isFirst = false;
      noteFirstWait(context, lock, wait);
    }
    return visit(wait);
  };
  visitWaits(transaction, lock, visitNext, firstWaits.get(lock.id) ?? 0);
}

/** How many requests wait for the lock. */
export function waitsOf({ waitingReaders, waitingWriters }: Lock): number {
  return waitingReaders + waitingWriters;
}

/** Adds a wait; raises QUOTA if there is no space for it. */
export function addWait(context: ApplyContext, lock: Lock, wait: Wait): void {
  const key = lockWaitRow(lock.id, wait.position);
  const value = encodeWait(wait);
  context.requireNamespaceQuota(lock.namespace, key.length + value.length);
  context.countDataIn(lock.namespace, key.length + value.length);
  context.transaction.put(key, value);
  if (waitsOf(lock) === 0) {
    noteFirstWait(context, lock, wait);
  }
  context.countTotal("lockWaits", 1);
  addTimer(context, lock, { about: "wait", number: wait.position, deadlineMs: wait.deadlineMs });
  countWait(lock, wait.mode, 1);
}

/** Another attempt takes over the wait, at the same position. */
export function replaceWait(context: ApplyContext, lock: Lock, before: Wait, after: Wait): void {
  const value = encodeWait(after);
  context.transaction.put(lockWaitRow(lock.id, after.position), value);
  context.countDataIn(lock.namespace, value.length - encodeWait(before).length);
  removeTimer(context, lock, { about: "wait", number: before.position, deadlineMs: before.deadlineMs });
  addTimer(context, lock, { about: "wait", number: after.position, deadlineMs: after.deadlineMs });
}

export function removeWait(context: ApplyContext, lock: Lock, wait: Wait): void {
  const key = lockWaitRow(lock.id, wait.position);
  context.transaction.delete(key);
  context.countDataIn(lock.namespace, -key.length - encodeWait(wait).length);
  context.countTotal("lockWaits", -1);
  removeTimer(context, lock, { about: "wait", number: wait.position, deadlineMs: wait.deadlineMs });
  countWait(lock, wait.mode, -1);
}

/** Positions grow, so no later wait comes before it. */
function noteFirstWait({ firstWaits }: ApplyContext, lock: Lock, { position }: Wait): void {
  if (firstWaits.size >= FIRST_WAITS_MAX) {
    firstWaits.clear();
  }
  firstWaits.set(lock.id, position);
}

function countWait(lock: Lock, mode: LockMode, change: number): void {
  if (mode === "read") {
    lock.waitingReaders += change;
  } else {
    lock.waitingWriters += change;
  }
}

function encodeWait(wait: Wait): Uint8Array {
  const writer = new RecordWriter();
  writePrincipal(writer, wait.principal);
  writer.fixed(wait.requestId, REQUEST_ID_BYTES).text(wait.owner);
  writeClaim(writer, wait);
  return writer.uint53(wait.ttlSeconds).uint53(wait.askedMs).uint53(wait.deadlineMs).finish();
}

function decodeWait(position: number, bytes: Uint8Array): Wait {
  const reader = new RecordReader(bytes);
  const wait = {
    position,
    principal: readPrincipal(reader),
    requestId: reader.fixed(REQUEST_ID_BYTES),
    owner: reader.text(),
    ...readClaim(reader),
    ttlSeconds: reader.uint53(),
    askedMs: reader.uint53(),
    deadlineMs: reader.uint53(),
  };
  reader.end();
  return wait;
}

// ---- Timers ----

interface Timer {
  readonly about: LockTimer["about"];
  readonly number: number;
  readonly deadlineMs: number;
}

/** Replaces the delay of the lock: no exclusive grant before this tick; 0 = none. */
export function setDelay(context: ApplyContext, lock: Lock, untilMs: number): void {
  if (lock.delayUntilMs !== 0) {
    removeTimer(context, lock, { about: "delay", number: 0, deadlineMs: lock.delayUntilMs });
  }
  if (untilMs !== 0) {
    addTimer(context, lock, { about: "delay", number: 0, deadlineMs: untilMs });
  }
  lock.delayUntilMs = untilMs;
}

/** Timers with a deadline before the tick, the earliest first, at most this many. */
export function dueLockTimers(reader: StateReader, tickMs: number, countMax: number): readonly LockTimer[] {
  const timers: LockTimer[] = [];
  reader.scan(tableRange("lockTimer").from, lockTimerRow(tickMs, 0, 0, 0), ({ key, value }) => {
    if (timers.length >= countMax) {
      return false;
    }
    const about = timerKind.read(new RecordReader(key, TIMER_ROW_ABOUT_OFFSET));
    timers.push({ about, lock: splitLockRow(value), number: numberAtEnd(key) });
    return true;
  });
  return timers;
}

function addTimer(context: ApplyContext, lock: Lock, timer: Timer): void {
  context.transaction.put(timerKey(lock, timer), lockRow(lock.namespace, lock.rw, lock.name));
  context.countLockTimers(1);
}

function removeTimer(context: ApplyContext, lock: Lock, timer: Timer): void {
  context.transaction.delete(timerKey(lock, timer));
  context.countLockTimers(-1);
}

function timerKey(lock: Lock, { about, number, deadlineMs }: Timer): Uint8Array {
  return lockTimerRow(deadlineMs, codeOfTimer(about), lock.id, number);
}

const TIMER_ROW_ABOUT_OFFSET = 1 + 8;
const NUMBER_BYTES = 8;

/** The number at the end of the key of a hold, a wait or a timer. */
function numberAtEnd(key: Uint8Array): number {
  return new RecordReader(key.subarray(key.length - NUMBER_BYTES)).uint53();
}
