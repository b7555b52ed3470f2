/** The fields of a transaction: from a request to the operations of the state. */

import {
  Compare_Operator,
  type CompareKey,
  type Compare as CompareMessage,
  type NestedTransaction,
  type TransactionOperation,
  type TransactRequest,
} from "@quoin/proto";
import {
  badRequestField,
  type Condition,
  CoordinationError,
  type Operator,
  Payloads,
  type Transact,
  type TransactedOperation,
} from "../../state/index.ts";
import {
  expectedModRevisionField,
  guardField,
  heldTokenField,
  holdField,
  keyField,
  lockNameField,
  namespaceField,
  ownSessionField,
  pageSizeField,
  prefixField,
  sessionIdField,
  ttlField,
  valueField,
} from "./field-rules.ts";
import {
  batchKeyField,
  eventKeyField,
  expectedSequenceField,
  listedPayloadsField,
  logIdField,
} from "./log-field-rules.ts";
import { dataField, expectedVersionField, lengthField, offsetField, regionIdField } from "./memory-field-rules.ts";

/** Operations and comparisons of a request, with those in nested transactions. */
const OPERATIONS_MAX = 10_000;
const COMPARES_MAX = 10_000;
/** Transactions that lie within each other, with the outermost. */
const DEPTH_MAX = 8;
/** Operations that look for rows among all that the transaction has changed, or let many waiting clients in. */
const LONG_MAX = 100;
const LONG_OPERATIONS: ReadonlySet<string> = new Set(["deletePrefix", "list", "release"]);
/** Bytes of one read of memory: less than a call reads, because the answer has those of several. */
const READ_BYTES_MAX = 1024 * 1024;

const OPERATORS: ReadonlyMap<Compare_Operator, Operator> = new Map([
  [Compare_Operator.EQUAL, "="],
  [Compare_Operator.NOT_EQUAL, "!="],
  [Compare_Operator.LESS, "<"],
  [Compare_Operator.GREATER, ">"],
]);

/** Throws BAD_FIELD and TOO_LARGE, which name the field within the transaction. */
export function transactField(request: TransactRequest): Transact {
  const namespace = namespaceField(request.namespace);
  const fields = new TransactionFields(namespace);
  const transact = fields.transaction(request, "", 1);
  requireSeparateWrites(request);
  return { ...transact, ...guardField(request.guard) };
}

/** Reads the fields of one request, and counts what all of its parts have together. */
class TransactionFields {
  readonly #namespace: string;
  #operations = 0;
  #compares = 0;
  #long = 0;

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** @param path of the transaction in the request: empty, or it ends with a dot. */
  transaction({ compare, success, failure }: NestedTransaction, path: string, depth: number): Transact {
    if (depth > DEPTH_MAX) {
      throw badRequestField(
        path.slice(0, -1),
        `must not lie within more than ${DEPTH_MAX - 1} transactions`,
        DEPTH_MAX - 1,
      );
    }
    this.#compares += compare.length;
    if (this.#compares > COMPARES_MAX) {
      throw badRequestField(
        `${path}compare`,
        `must have at most ${COMPARES_MAX} comparisons, in all lists`,
        COMPARES_MAX,
      );
    }
    return {
      kind: "transact",
      namespace: this.#namespace,
      conditions: compare.map((one, at) => conditionOf(one, `${path}compare[${at}]`)),
      success: this.#list(success, `${path}success`, depth),
      failure: this.#list(failure, `${path}failure`, depth),
    };
  }

  #list(operations: readonly TransactionOperation[], path: string, depth: number): readonly TransactedOperation[] {
    this.#operations += operations.length;
    if (this.#operations > OPERATIONS_MAX) {
      throw badRequestField(path, `must have at most ${OPERATIONS_MAX} operations, in all lists`, OPERATIONS_MAX);
    }
    return operations.map((operation, at) => this.#operation(operation, `${path}[${at}]`, depth));
  }

  #operation(message: TransactionOperation, path: string, depth: number): TransactedOperation {
    const name = onlyField(message, path, "the operations");
    const place = `${path}.${snakeCase(name)}.`;
    if (name === "transaction") {
      return this.transaction(message.transaction as NestedTransaction, place, depth + 1);
    }
    if (LONG_OPERATIONS.has(name) || (message.append?.payloads.length ?? 0) > 1) {
      this.#countLong(path);
    }
    const read = READERS[name] as (part: unknown, namespace: string) => TransactedOperation;
    return within(place, () => read(message[name], this.#namespace));
  }

  #countLong(path: string): void {
    this.#long++;
    if (this.#long > LONG_MAX) {
      const what = "operations that delete by prefix, list keys, release holds, or append several events";
      throw badRequestField(
        path,
        `must not be one more of the ${what}, of which a transaction has at most ${LONG_MAX}`,
        LONG_MAX,
      );
    }
  }
}

type SimpleOperation = Exclude<keyof TransactionOperation, "transaction">;

const READERS: {
  readonly [Name in SimpleOperation]: (
    part: NonNullable<TransactionOperation[Name]>,
    namespace: string,
  ) => TransactedOperation;
} = {
  put: ({ key, value, ttlSeconds, expectedModRevision, returnPrevious, sessionId }, namespace) => ({
    kind: "put-key",
    namespace,
    key: keyField(key),
    value: valueField("value", value),
    ttlSeconds: ttlField(ttlSeconds),
    expectedModRevision: expectedModRevisionField(expectedModRevision),
    returnPrevious,
    ...ownSessionField(sessionId),
  }),
  delete: ({ key, expectedModRevision, returnPrevious, missingOk }, namespace) => ({
    kind: "remove-key",
    namespace,
    key: keyField(key),
    expectedModRevision: expectedModRevisionField(expectedModRevision),
    returnPrevious,
    mayBeMissing: missingOk,
  }),
  deletePrefix: ({ prefix }, namespace) => ({ kind: "delete-keys", namespace, prefix: prefixField(prefix) }),
  touch: ({ key, ttlSeconds }, namespace) => ({
    kind: "touch-key",
    namespace,
    key: keyField(key),
    ttlSeconds: ttlField(ttlSeconds),
    expectedModRevision: undefined,
  }),
  increment: ({ key, delta, ttlSeconds }, namespace) => ({
    kind: "increment-key",
    namespace,
    key: keyField(key),
    delta,
    ttlSeconds: ttlField(ttlSeconds),
  }),
  get: ({ key }, namespace) => ({ kind: "read-key", namespace, key: keyField(key) }),
  list: ({ prefix, startAfter, limit, keysOnly }, namespace) => ({
    kind: "list-keys",
    namespace,
    prefix: prefixField(prefix),
    after: prefixField(startAfter, "start_after"),
    entriesMax: pageSizeField(limit, "limit"),
    keysOnly,
  }),
  writeMemory: ({ regionId, offset, data, expectedVersion }, namespace) => ({
    kind: "write-memory",
    namespace,
    regionId: regionIdField(regionId),
    offset: offsetField(offset),
    data: dataField(data),
    expectedVersion: expectedVersionField(expectedVersion),
  }),
  readMemory: ({ regionId, offset, length }, namespace) => ({
    kind: "read-memory",
    namespace,
    regionId: regionIdField(regionId),
    offset: offsetField(offset),
    length: lengthField(length, READ_BYTES_MAX),
  }),
  append: ({ logId, payloads, idempotencyKey, expectedSequence }) => {
    const listed = listedPayloadsField(payloads);
    const isBatch = listed.length > 1;
    return {
      kind: "append-events",
      logId: logIdField(logId),
      payloads: Payloads.of(listed),
      isBatch,
      idempotencyKey: isBatch ? batchKeyField(idempotencyKey, listed.length) : eventKeyField(idempotencyKey),
      expectedSequence: expectedSequenceField(expectedSequence),
    };
  },
  release: ({ lockName, fencingToken, rw }, namespace) => ({
    kind: "release-lock",
    namespace,
    name: lockNameField("lock_name", lockName),
    rw,
    mode: null,
    owner: "",
    fencingToken: heldTokenField("", fencingToken),
  }),
};

const CONDITIONS: {
  readonly [Name in keyof CompareMessage]: (part: NonNullable<CompareMessage[Name]>) => Condition;
} = {
  key: (part) => keyCondition(part),
  prefix: ({ prefix, unchangedSince }) => ({
    about: "prefix",
    prefix: prefixField(prefix),
    unchangedSince: countField("unchanged_since", unchangedSince),
  }),
  hold: (part) => ({ about: "hold", ...holdField("", part) }),
  log: ({ logId, operator, lastSequence }) => ({
    about: "log",
    logId: logIdField(logId),
    operator: operatorField(operator),
    lastSequence: countField("last_sequence", lastSequence),
  }),
  sessionId: (id) => ({ about: "session", sessionId: sessionIdField(id, "") }),
};

/** @param path of the comparison in the request. */
function conditionOf(message: CompareMessage, path: string): Condition {
  const name = onlyField(message, path, "key, prefix, hold, log and session_id");
  const read = CONDITIONS[name] as (part: unknown) => Condition;
  return within(`${path}.${snakeCase(name)}.`, () => read(message[name]));
}

const KEY_NUMBERS = {
  modRevision: "mod-revision",
  createRevision: "create-revision",
  version: "version",
  sessionId: "session",
} as const;

function keyCondition({ key: name, operator: relation, ...expected }: CompareKey): Condition {
  const key = keyField(name);
  const operator = operatorField(relation);
  const field = onlyField(expected, "", "exists, value, mod_revision, create_revision, version and session_id");
  if (field === "value") {
    return { about: "key-value", key, operator, value: valueField("value", expected.value as Uint8Array) };
  }
  if (field === "exists") {
    if (operator !== "=") {
      throw badRequestField("operator", "must be EQUAL for exists");
    }
    return { about: "key-number", key, of: "exists", operator, number: Number(expected.exists) };
  }
  const number = countField(snakeCase(field), expected[field] as bigint);
  return { about: "key-number", key, of: KEY_NUMBERS[field], operator, number };
}

function operatorField(operator: Compare_Operator): Operator {
  const known = OPERATORS.get(operator);
  if (known === undefined) {
    throw badRequestField("operator", "must be EQUAL (0), NOT_EQUAL (1), LESS (2) or GREATER (3)");
  }
  return known;
}

/** A revision, version or sequence to compare with. The decoder has checked that it is safe (S17). */
function countField(field: string, value: bigint): number {
  if (value < 0n) {
    throw badRequestField(field, "must be 0 or above", 0);
  }
  return Number(value);
}

/**
 * The name of the only field that is given.
 *
 * @param path of the message in the request; empty = that of the fields around it.
 * @param what the fields are, for the refusal.
 */
function onlyField<Message extends object>(message: Message, path: string, what: string): keyof Message & string {
  let given = 0;
  let only: (keyof Message & string) | undefined;
  // There are up to 10,000 operations in a request, each with a dozen fields, so this makes no list of them.
  for (const name in message) {
    if (message[name] !== undefined) {
      given++;
      only = name;
    }
  }
  if (only === undefined || given > 1) {
    const names = Object.entries(message).flatMap(([name, value]) => (value === undefined ? [] : [snakeCase(name)]));
    const found = only === undefined ? "it has none" : `it has ${names.join(" and ")}`;
    throw badRequestField(path, `must have exactly one of ${what}; ${found}`);
  }
  return only;
}

/** Runs the check of a part. Its refusals name the field within the request. */
function within<Value>(path: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    const field = error instanceof CoordinationError ? error.details.get("field") : undefined;
    if (!(error instanceof CoordinationError) || field === undefined) {
      throw error;
    }
    const place = field === "" ? path.slice(0, -1) : `${path}${field}`;
    const message = error.message.replace(`field ${field}`, `field ${place}`);
    throw new CoordinationError(error.reason, message, { details: new Map([...error.details, ["field", place]]) });
  }
}

/** Names of fields in the definitions, by their names in messages: a few dozen. */
const snakeCases = new Map<string, string>();

function snakeCase(name: string): string {
  const known = snakeCases.get(name) ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  snakeCases.set(name, known);
  return known;
}

/** What a branch can write, each with the place of the operation. */
interface Writes {
  readonly keys: ReadonlyMap<string, string>;
  readonly prefixes: ReadonlyMap<string, string>;
}

const NOTHING: ReadonlyMap<string, string> = new Map();

/**
 * Throws BAD_FIELD if two operations of one run can write the same key: a revision has at most one change of a key. The
 * two branches of a transaction never run both.
 */
function requireSeparateWrites(request: NestedTransaction): void {
  writesOf(request.success, "success");
  writesOf(request.failure, "failure");
}

function writesOf(operations: readonly TransactionOperation[], path: string): Writes {
  const keys = new Map<string, string>();
  const prefixes = new Map<string, string>();
  const before: Writes = { keys, prefixes };
  for (const [at, operation] of operations.entries()) {
    const place = `${path}[${at}]`;
    const key = operation.put?.key ?? operation.delete?.key ?? operation.increment?.key;
    if (key !== undefined) {
      requireSeparateKey(before, key, place);
      keys.set(key, place);
      continue;
    }
    const alternatives = alternativesOf(operation, place);
    for (const writes of alternatives) {
      requireSeparate(before, writes);
    }
    for (const writes of alternatives) {
      addAll(keys, writes.keys);
      addAll(prefixes, writes.prefixes);
    }
  }
  return before;
}

/** What an operation that names no key can write: a transaction what one of its branches writes, or the other. */
function alternativesOf({ deletePrefix, transaction }: TransactionOperation, place: string): readonly Writes[] {
  if (deletePrefix !== undefined) {
    return [{ keys: NOTHING, prefixes: new Map([[deletePrefix.prefix, place]]) }];
  }
  return transaction === undefined
    ? []
    : [
        writesOf(transaction.success, `${place}.transaction.success`),
        writesOf(transaction.failure, `${place}.transaction.failure`),
      ];
}

/** Copies no list of what was before: a request of 100 KiB has thousands of transactions behind thousands of keys. */
function requireSeparate(before: Writes, { keys, prefixes }: Writes): void {
  for (const [key, place] of keys) {
    requireSeparateKey(before, key, place);
  }
  for (const [prefix, place] of prefixes) {
    const other =
      placeOf(before.prefixes, (one) => prefix.startsWith(one) || one.startsWith(prefix)) ??
      placeOf(before.keys, (key) => key.startsWith(prefix));
    if (other !== undefined) {
      throw badRequestField(place, `must not delete a key that ${other} can write, too`);
    }
  }
}

function requireSeparateKey({ keys, prefixes }: Writes, key: string, place: string): void {
  const other = keys.get(key) ?? placeOf(prefixes, (prefix) => key.startsWith(prefix));
  if (other !== undefined) {
    throw badRequestField(place, `must not write a key that ${other} can write, too`);
  }
}

/** The place of the first one that is meant; undefined if there is none. */
function placeOf(places: ReadonlyMap<string, string>, isMeant: (name: string) => boolean): string | undefined {
  for (const [name, place] of places) {
    if (isMeant(name)) {
      return place;
    }
  }
  return undefined;
}

function addAll(places: Map<string, string>, added: ReadonlyMap<string, string>): void {
  for (const [name, place] of added) {
    places.set(name, place);
  }
}
