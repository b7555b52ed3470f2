/** Operations on keys that only transactions have: reads, increments, and deletion by prefix. */

import { latin1Of } from "../../bytes/index.ts";
import {
  type ApplyContext,
  bytes,
  CoordinationError,
  clientOperation,
  count,
  encodeText,
  flag,
  hashed,
  int64,
  KEY_OPERATION,
  keyRow,
  listOf,
  name,
  optionalCount,
  prefixRange,
  REVISION_CHANGES_MAX,
  type StateReader,
  type Steps,
  smallCount,
} from "../core/index.ts";
import { optionalGuard } from "../locks/index.ts";
import type {
  DeleteKeys,
  DeleteKeysResult,
  IncrementKey,
  IncrementKeyResult,
  ListKeys,
  ListKeysResult,
  ReadKey,
  ReadKeyResult,
  RemoveKey,
  RemoveKeyResult,
} from "./key-commands.ts";
import {
  deadlineOf,
  keyField,
  keyNotFound,
  listKeys,
  optionalKey,
  quote,
  readKey,
  readKeyAt,
  removeKey,
  requireModRevision,
  withoutPreviousValue,
  withoutValue,
  writeKey,
} from "./keys.ts";

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
/** Of a sign and 19 digits. */
const NUMBER_BYTES_MAX = 20;
const NUMBER = /^(0|-?[1-9][0-9]{0,18})$/;
/** Bytes of keys and values that one list reads: as those of a page, so that no step is long. */
const LISTED_BYTES_MAX = 256 * 1024;
/** Keys that are counted before a deletion: less than a millisecond of work. */
const COUNTED_KEYS_MAX = 250;
/** Keys deleted between two pauses: about a millisecond of work. */
const STEP_KEYS = 64;

export const removeKeyOperation = clientOperation<RemoveKey, RemoveKeyResult>({
  kind: "remove-key",
  number: 17,
  access: "write",
  usage: KEY_OPERATION,
  fields: {
    namespace: name,
    key: bytes,
    expectedModRevision: optionalCount,
    returnPrevious: flag,
    mayBeMissing: flag,
    guard: optionalGuard,
  },
  answer: { number: 17, fields: { removed: flag, previous: optionalKey }, withoutValues: withoutPreviousValue },
  apply: applyRemoveKey,
});

export const readKeyOperation = clientOperation<ReadKey, ReadKeyResult>({
  kind: "read-key",
  number: 13,
  access: "read",
  usage: KEY_OPERATION,
  fields: { namespace: name, key: bytes },
  answer: {
    number: 13,
    fields: { current: optionalKey },
    withoutValues: (answer) => ({ ...answer, current: answer.current === null ? null : withoutValue(answer.current) }),
  },
  apply: (context, { namespace, key }) => ({
    kind: "read-key",
    current: readKey(context.transaction, namespace, key) ?? null,
    revision: context.revision,
  }),
});

export const listKeysOperation = clientOperation<ListKeys, ListKeysResult>({
  kind: "list-keys",
  number: 14,
  access: "read",
  usage: KEY_OPERATION,
  fields: { namespace: name, prefix: bytes, after: bytes, entriesMax: smallCount, keysOnly: flag },
  rows: (_reader, { entriesMax }) => entriesMax,
  answer: {
    number: 14,
    fields: { keys: listOf(keyField), more: flag },
    withoutValues: (answer) => ({ ...answer, keys: answer.keys.map(withoutValue) }),
  },
  apply: applyListKeys,
});

export const incrementKeyOperation = clientOperation<IncrementKey, IncrementKeyResult>({
  kind: "increment-key",
  number: 15,
  access: "write",
  grows: true,
  usage: KEY_OPERATION,
  fields: { namespace: name, key: bytes, delta: int64, ttlSeconds: count },
  answer: { number: 15, fields: { value: int64, created: flag, modRevision: count } },
  apply: applyIncrementKey,
});

export const deleteKeysOperation = clientOperation<DeleteKeys, DeleteKeysResult>({
  kind: "delete-keys",
  number: 16,
  access: "write",
  usage: KEY_OPERATION,
  fields: { namespace: name, prefix: bytes },
  rows: countKeys,
  answer: { number: 16, fields: { deletedKeys: count } },
  apply: applyDeleteKeys,
});

/** The keys that a deletion will probably remove: exact while they are few. */
function countKeys(reader: StateReader, { namespace, prefix }: DeleteKeys): number {
  const { from, to } = prefixRange(keyRow(namespace, prefix));
  let counted = 0;
  reader.scan(from, to, () => {
    counted++;
    return counted < COUNTED_KEYS_MAX;
  });
  return counted < COUNTED_KEYS_MAX ? counted : REVISION_CHANGES_MAX;
}

function applyRemoveKey(context: ApplyContext, command: RemoveKey): RemoveKeyResult {
  const { namespace, key, mayBeMissing, returnPrevious } = command;
  const current = readKey(context.transaction, namespace, key);
  if (current === undefined && !mayBeMissing) {
    throw keyNotFound(namespace, key);
  }
  requireModRevision(command, current);
  if (current === undefined) {
    return { kind: "remove-key", removed: false, previous: null, revision: context.revision };
  }
  const revision = removeKey(context, "delete", namespace, current);
  return { kind: "remove-key", removed: true, previous: returnPrevious ? current : null, revision };
}

function applyListKeys(context: ApplyContext, command: ListKeys): ListKeysResult {
  const { namespace, prefix, after, entriesMax, keysOnly } = command;
  const bounds = { entriesMax, bytesMax: LISTED_BYTES_MAX, keysOnly };
  const page = listKeys(context.transaction, namespace, prefix, after.length === 0 ? undefined : after, bounds);
  return { kind: "list-keys", ...page, revision: context.revision };
}

/** A key that does not exist counts as 0. The sum is exact, or the increment is refused: it never wraps. */
function applyIncrementKey(context: ApplyContext, command: IncrementKey): IncrementKeyResult {
  const { namespace, key, delta, ttlSeconds } = command;
  const row = hashed(keyRow(namespace, key));
  const current = readKeyAt(context.transaction, row, key);
  const before = current === undefined ? 0n : numberIn(current.value);
  if (before === null) {
    throw new CoordinationError(
      "NOT_A_NUMBER",
      `the value of key ${quote(namespace, key)} is not a decimal number from -2^63 to 2^63 - 1`,
    );
  }
  const value = before + delta;
  if (value < INT64_MIN || value > INT64_MAX) {
    throw new CoordinationError(
      "NUMBER_OVERFLOW",
      `key ${quote(namespace, key)} is ${before}, and ${delta} more is outside of -2^63 to 2^63 - 1`,
      { details: new Map([["value", String(before)]]) },
    );
  }
  const stored = writeKey(context, row, command, {
    value: encodeText(String(value)),
    current,
    deadlineMs: current === undefined ? deadlineOf(context, ttlSeconds) : current.deadlineMs,
    sessionId: current?.sessionId,
  });
  const { modRevision } = stored;
  return { kind: "increment-key", value, created: current === undefined, modRevision, revision: modRevision };
}

/** The number whose decimal text the value is, without leading zeros; null if it is none. */
function numberIn(value: Uint8Array): bigint | null {
  const written = value.length <= NUMBER_BYTES_MAX ? latin1Of(value) : "";
  const number = NUMBER.test(written) ? BigInt(written) : null;
  return number === null || number < INT64_MIN || number > INT64_MAX ? null : number;
}

function* applyDeleteKeys(context: ApplyContext, { namespace, prefix }: DeleteKeys): Steps<DeleteKeysResult> {
  const { transaction } = context;
  let deletedKeys = 0;
  let after: Uint8Array | undefined;
  for (;;) {
    // A scan must not see the changes that are made meanwhile.
    const bounds = { entriesMax: STEP_KEYS, bytesMax: LISTED_BYTES_MAX, keysOnly: false };
    const { keys, more } = listKeys(transaction, namespace, prefix, after, bounds);
    for (const stored of keys) {
      removeKey(context, "delete", namespace, stored);
    }
    deletedKeys += keys.length;
    after = keys.at(-1)?.key;
    if (!more) {
      return { kind: "delete-keys", deletedKeys, revision: context.revision };
    }
    yield;
  }
}
