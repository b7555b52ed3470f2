/**
 * Keys and values: put, delete, compare-and-swap, touch, expiry, get and list.
 *
 * A key is ABSENT or PRESENT with a version that starts at 1. Keys order by their UTF-8 bytes (S16). An empty value
 * exists, an absent key does not (S14). A key with a deadline stays visible until the entry that expires it (S21, S22).
 * A touch moves the deadline. It is no change of the key: revisions, watches and the history show nothing of it.
 */

import { compareBytes, equalBytes, type Keyed, withNul } from "../../bytes/index.ts";
import { invariant, readUint32, readUint53 } from "../../primitives/index.ts";
import {
  type ApplyContext,
  bytes,
  CoordinationError,
  clientOperation,
  clusterStep,
  count,
  countWithSession,
  decodeText,
  endOf,
  expiryRow,
  flag,
  hashed,
  KEY_OPERATION,
  keyRow,
  keyRowPrefixLength,
  listOf,
  type NamespacedRows,
  name,
  nullable,
  optionalCount,
  orEmpty,
  ownSession,
  type Principal,
  prefixRange,
  RecordReader,
  RecordWriter,
  recordChanges,
  recordOf,
  requireNamespace,
  type StateReader,
  type StoredKey,
  tableRange,
  text,
  VERSION_WITH_TOUCH,
} from "../core/index.ts";
import { checkGuard, optionalGuard } from "../locks/index.ts";
import { changeBelonging, requireOwnSession, requireRoom, type Thing } from "../sessions/index.ts";
import type {
  CompareAndSwap,
  CompareAndSwapResult,
  DeleteKey,
  DeleteKeyResult,
  ExpireKeys,
  PutKey,
  PutKeyResult,
  RemoveKey,
  RemoveKeyResult,
  TouchKey,
  TouchKeyResult,
} from "./key-commands.ts";

const NO_BYTES = new Uint8Array(0);
export const keyField = recordOf<StoredKey>({
  key: bytes,
  value: bytes,
  createRevision: count,
  modRevision: count,
  version: count,
  deadlineMs: countWithSession,
  sessionId: ownSession,
});
export const optionalKey = nullable(keyField);

export const putKeyOperation = clientOperation<PutKey, PutKeyResult>({
  kind: "put-key",
  number: 2,
  access: "write",
  grows: true,
  usage: KEY_OPERATION,
  fields: {
    namespace: name,
    key: bytes,
    value: bytes,
    ttlSeconds: countWithSession,
    sessionId: ownSession,
    expectedModRevision: optionalCount,
    returnPrevious: flag,
    guard: optionalGuard,
  },
  answer: {
    number: 2,
    fields: { modRevision: count, created: flag, previous: optionalKey },
    withoutValues: withoutPreviousValue,
  },
  apply: applyPutKey,
});

export const deleteKeyOperation = clientOperation<DeleteKey, DeleteKeyResult>({
  kind: "delete-key",
  number: 3,
  access: "write",
  usage: KEY_OPERATION,
  fields: {
    namespace: name,
    key: bytes,
    expectedModRevision: optionalCount,
    returnPrevious: flag,
    guard: optionalGuard,
  },
  answer: { number: 3, fields: { previous: optionalKey }, withoutValues: withoutPreviousValue },
  apply: applyDeleteKey,
});

export const compareAndSwapOperation = clientOperation<CompareAndSwap, CompareAndSwapResult>({
  kind: "compare-and-swap",
  number: 4,
  access: "write",
  grows: true,
  usage: KEY_OPERATION,
  fields: {
    namespace: name,
    key: bytes,
    expectedValue: orEmpty(bytes, NO_BYTES),
    newValue: bytes,
    expectedModRevision: optionalCount,
    ttlSeconds: countWithSession,
    sessionId: ownSession,
    guard: optionalGuard,
  },
  answer: {
    number: 4,
    fields: { success: flag, currentExists: flag, currentValue: bytes, modRevision: count },
    withoutValues: (answer) => ({ ...answer, currentValue: NO_BYTES }),
  },
  apply: applyCompareAndSwap,
});

/** The part of a value that is as much work as a row. */
const ROW_BYTES = 256;

/**
 * It does not grow: the row that it writes is as long as the one that it replaces. The command is short, but every member
 * writes the value again.
 */
export const touchKeyOperation = clientOperation<TouchKey, TouchKeyResult>({
  kind: "touch-key",
  number: 12,
  access: "write",
  since: VERSION_WITH_TOUCH,
  usage: KEY_OPERATION,
  fields: {
    namespace: name,
    key: bytes,
    ttlSeconds: count,
    expectedModRevision: optionalCount,
    guard: optionalGuard,
  },
  rows: (reader, { namespace, key }) => Math.floor((reader.get(keyRow(namespace, key))?.length ?? 0) / ROW_BYTES),
  answer: { number: 12, fields: { modRevision: count, deadlineMs: count } },
  apply: applyTouchKey,
});

export const expireKeysOperation = clusterStep<ExpireKeys>({
  kind: "expire-keys",
  number: 5,
  fields: { keys: listOf(recordOf({ namespace: text, key: bytes, modRevision: count })) },
  apply: applyExpireKeys,
});

/** Bytes of rows that one page reads: some milliseconds, all in one turn of the event loop (S44). */
const SCANNED_BYTES_MAX = 512 * 1024;

function applyPutKey(context: ApplyContext, command: PutKey, principal: Principal): PutKeyResult {
  requireNamespace(context.transaction, command.namespace);
  checkGuard(context.transaction, command.namespace, command.guard);
  requireSessionOf(context, command, principal);
  const row = hashed(keyRow(command.namespace, command.key));
  const current = readKeyAt(context.transaction, row, command.key);
  requireModRevision(command, current);
  const stored = putKey(context, row, command, command.value, current);
  return {
    kind: "put-key",
    modRevision: stored.modRevision,
    created: current === undefined,
    previous: command.returnPrevious && current !== undefined ? current : null,
    revision: stored.modRevision,
  };
}

function applyDeleteKey(context: ApplyContext, command: DeleteKey): DeleteKeyResult {
  requireNamespace(context.transaction, command.namespace);
  checkGuard(context.transaction, command.namespace, command.guard);
  const current = readKey(context.transaction, command.namespace, command.key);
  if (current === undefined) {
    throw keyNotFound(command.namespace, command.key);
  }
  requireModRevision(command, current);
  const revision = removeKey(context, "delete", command.namespace, current);
  return { kind: "delete-key", previous: command.returnPrevious ? current : null, revision };
}

/**
 * A mismatch, also with an absent key, is an answer and not a refusal. Without an expectation the key must not exist.
 */
function applyCompareAndSwap(
  context: ApplyContext,
  command: CompareAndSwap,
  principal: Principal,
): CompareAndSwapResult {
  requireNamespace(context.transaction, command.namespace);
  checkGuard(context.transaction, command.namespace, command.guard);
  requireSessionOf(context, command, principal);
  const row = hashed(keyRow(command.namespace, command.key));
  const current = readKeyAt(context.transaction, row, command.key);
  if (!matches(command, current)) {
    return {
      kind: "compare-and-swap",
      success: false,
      currentExists: current !== undefined,
      currentValue: current?.value ?? NO_BYTES,
      modRevision: current?.modRevision ?? 0,
      revision: context.revision,
    };
  }
  const stored = putKey(context, row, command, command.newValue, current);
  return {
    kind: "compare-and-swap",
    success: true,
    currentExists: true,
    currentValue: stored.value,
    modRevision: stored.modRevision,
    revision: stored.modRevision,
  };
}

/** The revision of the answer is that of the state: a touch makes none. */
function applyTouchKey(context: ApplyContext, command: TouchKey): TouchKeyResult {
  requireNamespace(context.transaction, command.namespace);
  checkGuard(context.transaction, command.namespace, command.guard);
  const row = hashed(keyRow(command.namespace, command.key));
  const current = readKeyAt(context.transaction, row, command.key);
  if (current === undefined) {
    throw keyNotFound(command.namespace, command.key);
  }
  requireModRevision(command, current);
  const { namespace, key, ttlSeconds } = command;
  const { modRevision } = current;
  const deadlineMs = deadlineOf(context, ttlSeconds);
  replaceDeadline(context, { namespace, key, modRevision }, current.deadlineMs, deadlineMs);
  if (deadlineMs !== current.deadlineMs) {
    context.transaction.put(row.key, encodeStoredKey({ ...current, deadlineMs }), row.hash);
  }
  return { kind: "touch-key", modRevision, deadlineMs, revision: context.revision };
}

/**
 * Removes the named keys that are unchanged and whose deadline has passed (S22). Ticks are rounded down to
 * milliseconds, so a deadline has passed only when the tick is above it; otherwise a key could go early (S21).
 */
function applyExpireKeys(context: ApplyContext, command: ExpireKeys): void {
  for (const { namespace, key, modRevision } of command.keys) {
    const current = readKey(context.transaction, namespace, key);
    if (current === undefined || current.modRevision !== modRevision) {
      continue;
    }
    if (current.deadlineMs === 0 || current.deadlineMs >= context.tickMs) {
      continue;
    }
    removeKey(context, "expire", namespace, current);
  }
}

export function withoutPreviousValue<Answer extends PutKeyResult | DeleteKeyResult | RemoveKeyResult>(
  answer: Answer,
): Answer {
  const { previous } = answer;
  return { ...answer, previous: previous === null ? null : withoutValue(previous) };
}

export function withoutValue(stored: StoredKey): StoredKey {
  return { ...stored, value: NO_BYTES };
}

/** The key, whether or not its deadline has passed. */
export function readKey(reader: StateReader, namespace: string, key: Uint8Array): StoredKey | undefined {
  return readKeyAt(reader, hashed(keyRow(namespace, key)), key);
}

export function readKeyAt(reader: StateReader, row: Keyed, key: Uint8Array): StoredKey | undefined {
  const bytes = reader.get(row.key, row.hash);
  return bytes === undefined ? undefined : decodeStoredKey(key, bytes);
}

/** The key; raises NAMESPACE_NOT_FOUND or KEY_NOT_FOUND. */
export function getKey(reader: StateReader, namespace: string, key: Uint8Array): StoredKey {
  requireNamespace(reader, namespace);
  const found = readKey(reader, namespace, key);
  if (found === undefined) {
    throw keyNotFound(namespace, key);
  }
  return found;
}

/** The limits of one page of a listing. */
export interface PageBounds {
  readonly entriesMax: number;
  /** Bytes of keys and values; a page always has at least one entry, if there is one. */
  readonly bytesMax: number;
  /**
   * Leaves values out of the page and of its bytes. They are still read, so a page also ends after SCANNED_BYTES_MAX.
   */
  readonly keysOnly: boolean;
}

export interface KeyPage {
  readonly keys: readonly StoredKey[];
  /** Whether keys with the prefix follow. */
  readonly more: boolean;
}

/** Keys with the prefix, above `after` if given, in the order of their bytes. Raises NAMESPACE_NOT_FOUND. */
export function listKeys(
  reader: StateReader,
  namespace: string,
  prefix: Uint8Array,
  after: Uint8Array | undefined,
  bounds: PageBounds,
): KeyPage {
  requireNamespace(reader, namespace);
  const { from: first, to: end } = prefixRange(keyRow(namespace, prefix));
  const above = after === undefined ? first : keyRow(namespace, withNul(after));
  const from = compareBytes(above, first) > 0 ? above : first;
  const skip = keyRowPrefixLength(namespace);
  const keys: StoredKey[] = [];
  let bytes = 0;
  let scanned = 0;
  let more = false;
  reader.scan(from, end, (row) => {
    const key = row.key.subarray(skip);
    const stored = decodeStoredKey(key, row.value);
    const size = key.length + (bounds.keysOnly ? 0 : stored.value.length);
    const isFull = bytes + size > bounds.bytesMax || scanned + row.value.length > SCANNED_BYTES_MAX;
    if (keys.length >= bounds.entriesMax || (keys.length > 0 && isFull)) {
      more = true;
      return false;
    }
    bytes += size;
    scanned += row.value.length;
    keys.push(bounds.keysOnly ? withoutValue(stored) : stored);
    return true;
  });
  return { keys, more };
}

/** Keys whose deadline is before the tick, the earliest first, at most this many. Does not read their values (S44). */
export function expiredKeys(reader: StateReader, tickMs: number, countMax: number): ExpireKeys["keys"] {
  const keys: { namespace: string; key: Uint8Array; modRevision: number }[] = [];
  const { from } = tableRange("expiry");
  reader.scan(from, expiryRow(tickMs, "", NO_BYTES), (row) => {
    if (keys.length >= countMax) {
      return false;
    }
    keys.push({ ...splitExpiryRow(row.key), modRevision: new RecordReader(row.value).uint53() });
    return true;
  });
  return keys;
}

/** Raises SESSION_NOT_FOUND or ACCESS_DENIED unless the caller may use the session of the command, if it has one. */
function requireSessionOf(
  { transaction }: ApplyContext,
  { namespace, sessionId }: PutKey | CompareAndSwap,
  { subject }: Principal,
): void {
  if (sessionId !== undefined) {
    requireOwnSession(transaction, namespace, sessionId, subject);
  }
}

/** @param row of the key in the command; `current` is its present content. */
function putKey(
  context: ApplyContext,
  row: Keyed,
  command: PutKey | CompareAndSwap,
  value: Uint8Array,
  current: StoredKey | undefined,
): StoredKey {
  const { ttlSeconds, sessionId } = command;
  return writeKey(context, row, command, { value, current, deadlineMs: deadlineOf(context, ttlSeconds), sessionId });
}

/**
 * Writes a value.
 *
 * @param row of the key.
 */
export function writeKey(
  context: ApplyContext,
  row: Keyed,
  { namespace, key }: { readonly namespace: string; readonly key: Uint8Array },
  {
    value,
    current,
    deadlineMs,
    sessionId,
  }: {
    readonly value: Uint8Array;
    /** What the key is now. */
    readonly current: StoredKey | undefined;
    /** The new deadline as a cluster tick; 0 = none. */
    readonly deadlineMs: number;
    /** The session that it ends with from now on. */
    readonly sessionId: number | undefined;
  },
): StoredKey {
  const grown = value.length - (current === undefined ? -key.length : current.value.length);
  const account = context.accounts.of(namespace);
  const isOwned = sessionId !== undefined || current?.sessionId !== undefined;
  const before = isOwned && current !== undefined ? belongingOf(current) : null;
  const after = isOwned ? { sessionId, bytes: key.length + value.length } : null;
  if (isOwned) {
    requireRoom(context, namespace, before, after);
  }
  context.requireQuota(grown);
  account.requireQuota("bytes", grown);
  if (current === undefined) {
    account.requireQuota("keys", 1);
    account.count("keys", 1);
    context.countTotal("keys", 1);
  }
  account.count("bytes", grown);
  context.countData(grown);
  const revision = context.nextRevision();
  replaceDeadline(context, { namespace, key, modRevision: revision }, current?.deadlineMs ?? 0, deadlineMs);
  const plain: StoredKey = {
    key,
    value,
    createRevision: current?.createRevision ?? revision,
    modRevision: revision,
    version: (current?.version ?? 0) + 1,
    deadlineMs,
  };
  const stored = sessionId === undefined ? plain : { ...plain, sessionId };
  if (isOwned) {
    changeBelonging(context, namespace, thingOf(key), before, after);
  }
  context.transaction.put(row.key, encodeStoredKey(stored), row.hash);
  recordChanges(context, revision, [
    { about: "key", kind: "put", namespace, current: stored, previous: current ?? null },
  ]);
  return stored;
}

/** The cluster tick at which a time to live ends that begins now; 0 = never. */
export function deadlineOf(context: ApplyContext, ttlSeconds: number): number {
  return ttlSeconds === 0 ? 0 : context.deadlineAfter(ttlSeconds);
}

/** Replaces the former deadline of the key by another one; 0 = none. The key will have the mod revision. */
function replaceDeadline(
  context: ApplyContext,
  { namespace, key, modRevision }: ExpireKeys["keys"][number],
  formerMs: number,
  deadlineMs: number,
): void {
  clearDeadline(context, namespace, key, formerMs);
  if (deadlineMs !== 0) {
    context.transaction.put(expiryRow(deadlineMs, namespace, key), new RecordWriter().uint53(modRevision).finish());
    context.countExpiringKeys(1);
  }
}

function clearDeadline(context: ApplyContext, namespace: string, key: Uint8Array, deadlineMs: number): void {
  if (deadlineMs !== 0) {
    context.transaction.delete(expiryRow(deadlineMs, namespace, key));
    context.countExpiringKeys(-1);
  }
}

/** All keys of a namespace. */
export const namespaceKeys: NamespacedRows = {
  rangeOf: (namespace) => prefixRange(keyRow(namespace, NO_BYTES)),
  erase: (context, namespace, { key, value }) => {
    const stored = decodeStoredKey(key.subarray(keyRowPrefixLength(namespace)), value);
    eraseKey(context, namespace, stored);
    return stored.deadlineMs === 0 ? 1 : 2;
  },
};

/** Removes the rows of the key. */
function eraseKey(context: ApplyContext, namespace: string, stored: StoredKey): void {
  context.transaction.delete(keyRow(namespace, stored.key));
  context.countDataIn(namespace, -stored.key.length - stored.value.length);
  context.countTotal("keys", -1);
  context.accounts.of(namespace).count("keys", -1);
  clearDeadline(context, namespace, stored.key, stored.deadlineMs);
  if (stored.sessionId !== undefined) {
    changeBelonging(context, namespace, thingOf(stored.key), belongingOf(stored), null);
  }
}

/** Removes the key and returns the revision of the removal. */
export function removeKey(
  context: ApplyContext,
  kind: "delete" | "expire",
  namespace: string,
  stored: StoredKey,
): number {
  eraseKey(context, namespace, stored);
  const revision = context.nextRevision();
  const current = endOf(stored, revision);
  recordChanges(context, revision, [{ about: "key", kind, namespace, current, previous: stored }]);
  return revision;
}

/** The key as sessions know it. */
function thingOf(key: Uint8Array): Thing {
  return { about: "key", row: key };
}

function belongingOf({ key, value, sessionId }: StoredKey) {
  return { sessionId, bytes: key.length + value.length };
}

export function requireModRevision(
  command: PutKey | DeleteKey | RemoveKey | TouchKey,
  current: StoredKey | undefined,
): void {
  const actual = current?.modRevision ?? 0;
  if (command.expectedModRevision !== undefined && command.expectedModRevision !== actual) {
    throw new CoordinationError(
      "REVISION_MISMATCH",
      `expected_mod_revision is ${command.expectedModRevision}, but key ${quote(command.namespace, command.key)} ` +
        (actual === 0 ? "does not exist" : `has mod_revision ${actual}`),
      { details: new Map([["mod_revision", String(actual)]]) },
    );
  }
}

function matches(command: CompareAndSwap, current: StoredKey | undefined): boolean {
  if (command.expectedValue === undefined && command.expectedModRevision === undefined) {
    return current === undefined;
  }
  if (command.expectedModRevision !== undefined && command.expectedModRevision !== (current?.modRevision ?? 0)) {
    return false;
  }
  return (
    command.expectedValue === undefined || (current !== undefined && equalBytes(command.expectedValue, current.value))
  );
}

export function keyNotFound(namespace: string, key: Uint8Array): CoordinationError {
  return new CoordinationError("KEY_NOT_FOUND", `key ${quote(namespace, key)} does not exist`);
}

export function quote(namespace: string, key: Uint8Array): string {
  return JSON.stringify(`${namespace}/${decodeText(key)}`);
}

const EXPIRY_ROW_NAMESPACE_OFFSET = 1 + 8;

function splitExpiryRow(row: Uint8Array): { readonly namespace: string; readonly key: Uint8Array } {
  const end = row.indexOf(0, EXPIRY_ROW_NAMESPACE_OFFSET);
  return { namespace: decodeText(row.subarray(EXPIRY_ROW_NAMESPACE_OFFSET, end)), key: row.subarray(end + 1) };
}

/** Offsets of the fields in a key's row: its counters, then the length of the value, then the value. */
const CREATE_REVISION_OFFSET = 0;
const MOD_REVISION_OFFSET = 8;
const VERSION_OFFSET = 16;
const DEADLINE_OFFSET = 24;
const LENGTH_OFFSET = 32;
const VALUE_OFFSET = 36;
const SESSION_BYTES = 8;

/** The row of a key: its counters, the value, and the session if it has one. */
function encodeStoredKey(stored: StoredKey): Uint8Array {
  const { sessionId } = stored;
  const writer = new RecordWriter()
    .uint53(stored.createRevision)
    .uint53(stored.modRevision)
    .uint53(stored.version)
    .uint53(stored.deadlineMs)
    .bytes(stored.value);
  return (sessionId === undefined ? writer : writer.uint53(sessionId)).finish();
}

function decodeStoredKey(key: Uint8Array, bytes: Uint8Array): StoredKey {
  const end = bytes.length >= VALUE_OFFSET ? VALUE_OFFSET + readUint32(bytes, LENGTH_OFFSET) : Number.NaN;
  const isWhole = end === bytes.length || end === bytes.length - SESSION_BYTES;
  invariant(isWhole, "records are as long as their fields");
  const createRevision = readUint53(bytes, CREATE_REVISION_OFFSET);
  const modRevision = readUint53(bytes, MOD_REVISION_OFFSET);
  const version = readUint53(bytes, VERSION_OFFSET);
  const deadlineMs = readUint53(bytes, DEADLINE_OFFSET);
  const stored = { key, value: bytes.subarray(VALUE_OFFSET, end), createRevision, modRevision, version, deadlineMs };
  return end === bytes.length ? stored : { ...stored, sessionId: readUint53(bytes, end) };
}
