/** The part of the golden log about transactions: every operation and every condition within them. */

import {
  type Condition,
  type Operator,
  Payloads,
  type Transact,
  type TransactedOperation,
} from "../../src/state/index.ts";
import { GUARD_LOCK } from "./coordination-steps.ts";
import { done, type GoldenLog, refusedWith } from "./golden-log.ts";
import { ANNA, OWNER } from "./identities.ts";

const HOUR_SECS = 3_600;
const REGION_BYTES = 100;
const LARGE_BYTES = 4_200;
const IN_GOLDEN = { namespace: "golden" } as const;
const SETTINGS = { duplicateWindowSecs: null, retentionMaxAgeSecs: null, retentionMaxBytes: null };

const text = (value: string): Uint8Array => Buffer.from(value);

/** @param fencingToken of a live hold of `GUARD_LOCK` */
export function writeTransactions(log: GoldenLog, fencingToken: number): void {
  const create = { kind: "create-log", ...IN_GOLDEN, name: "of transactions", settings: SETTINGS } as const;
  const { logId } = done(log.client<"create-log">(create, OWNER, log.newRequest())).log;
  const allocate = {
    kind: "allocate-memory",
    ...IN_GOLDEN,
    label: "of transactions",
    sizeBytes: REGION_BYTES,
  } as const;
  const { regionId } = done(log.client<"allocate-memory">(allocate));
  const acquire = { kind: "acquire-lock", ...IN_GOLDEN, name: "shared", mode: "read", ttlSeconds: HOUR_SECS } as const;
  const { hold } = done(log.client<"acquire-lock">({ ...acquire, owner: "", waitMs: 0, fencingToken: 0 }));
  const guard = { lockName: GUARD_LOCK, fencingToken, rw: false };

  const request = log.newRequest();
  const all = transact({
    success: [...keyOperations(), ...storageOperations(regionId, logId), released(hold?.token ?? 0)],
    guard,
  });
  const { revision } = done(log.client<"transact">(all, OWNER, request));
  log.client(all, OWNER, request);
  const conditions = [...keyConditions(revision), ...otherConditions(logId, fencingToken)];
  done(log.client(transact({ conditions, success: [nested(conditions)] }), ANNA));
  const isLarge = putIn("of a transaction/large", { value: new Uint8Array(LARGE_BYTES).fill(0x54) });
  done(log.client(transact({ success: [isLarge] })));
  const reading = log.newRequest();
  const read = transact({ success: [{ kind: "read-key", ...IN_GOLDEN, key: isLarge.key }] });
  done(log.client(read, OWNER, reading));
  log.client(read, OWNER, reading);
  refusedWith("FENCED", log.client({ ...all, guard: { ...guard, fencingToken: 1 } }));
  const overflow = transact({ success: [putIn("of a transaction/never"), increment("of a transaction/text", 1n)] });
  refusedWith("NOT_A_NUMBER", log.client(transact({ success: [overflow] })));
  refusedWith("NAMESPACE_NOT_FOUND", log.client({ ...transact({}), namespace: "nowhere" }));
}

function transact(changes: Partial<Transact>): Transact {
  return { kind: "transact", ...IN_GOLDEN, conditions: [], success: [], failure: [], ...changes };
}

function putIn(key: string, changes: { readonly value?: Uint8Array; readonly ttlSeconds?: number } = {}) {
  const usual = { value: text("value"), ttlSeconds: 0, expectedModRevision: undefined, returnPrevious: true };
  return { kind: "put-key", ...IN_GOLDEN, key: text(key), ...usual, ...changes } as const;
}

function increment(key: string, delta: bigint): TransactedOperation {
  return { kind: "increment-key", ...IN_GOLDEN, key: text(key), delta, ttlSeconds: HOUR_SECS };
}

function keyOperations(): TransactedOperation[] {
  const prefix = text("of a transaction/");
  const removal = { kind: "remove-key", ...IN_GOLDEN, returnPrevious: true } as const;
  return [
    putIn("of a transaction/text", { ttlSeconds: HOUR_SECS }),
    putIn("of a transaction/removed"),
    increment("of a transaction/number", -(2n ** 53n - 1n)),
    { ...removal, key: text("empty"), expectedModRevision: undefined, mayBeMissing: false },
    { ...removal, key: text("no such key"), expectedModRevision: undefined, mayBeMissing: true },
    {
      kind: "touch-key",
      ...IN_GOLDEN,
      key: text("of a transaction/text"),
      ttlSeconds: 0,
      expectedModRevision: undefined,
    },
    { kind: "read-key", ...IN_GOLDEN, key: text("of a transaction/text") },
    { kind: "list-keys", ...IN_GOLDEN, prefix, after: text("of a transaction/n"), entriesMax: 2, keysOnly: true },
    { kind: "delete-keys", ...IN_GOLDEN, prefix: text("swapp") },
  ];
}

function storageOperations(regionId: Uint8Array, logId: Uint8Array): TransactedOperation[] {
  const append = { kind: "append-events", logId, expectedSequence: undefined } as const;
  const batch = Payloads.of([text("two"), text("three")]);
  return [
    { kind: "write-memory", ...IN_GOLDEN, regionId, offset: 7, data: text("written"), expectedVersion: 1 },
    { kind: "read-memory", ...IN_GOLDEN, regionId, offset: 0, length: 20 },
    { ...append, payloads: Payloads.of([text("one")]), isBatch: false, idempotencyKey: null, expectedSequence: 0n },
    { ...append, payloads: batch, isBatch: true, idempotencyKey: "batch" },
  ];
}

function released(fencingToken: number): TransactedOperation {
  return { kind: "release-lock", ...IN_GOLDEN, name: "shared", rw: true, mode: null, owner: "", fencingToken };
}

/** All of them are true for a key that the transaction of this revision has created. */
function keyConditions(revision: number): Condition[] {
  const key = text("of a transaction/text");
  const number = (
    of: Extract<Condition, { about: "key-number" }>["of"],
    operator: Operator,
    value: number,
  ): Condition => {
    return { about: "key-number", key, of, operator, number: value };
  };
  return [
    number("exists", "=", 1),
    number("mod-revision", "=", revision),
    number("create-revision", "<", revision + 1),
    number("version", ">", 0),
    { about: "key-value", key, operator: "!=", value: text("another") },
    { about: "prefix", prefix: key, unchangedSince: revision },
  ];
}

function otherConditions(logId: Uint8Array, fencingToken: number): Condition[] {
  return [
    { about: "hold", lockName: GUARD_LOCK, fencingToken, rw: false },
    { about: "log", logId, operator: "=", lastSequence: 3 },
  ];
}

/** One whose last condition is not true. */
function nested(conditions: readonly Condition[]): Transact {
  const isNot: Condition = { about: "hold", lockName: "no such lock", fencingToken: 1, rw: true };
  const success = [putIn("of a transaction/never")];
  return transact({ conditions: [...conditions, isNot], success, failure: [increment("of a transaction/number", 1n)] });
}
