import { Compare_Operator as Operator, TransactRequest } from "@quoin/proto";
import { expect } from "chai";
import { CoordinationError, type Transact } from "../../state/index.ts";
import { transactField } from "./transaction-fields.ts";

type Fields = Parameters<typeof TransactRequest.fromPartial>[0];
type OperationFields = NonNullable<Fields["success"]>[number];
type CompareFields = NonNullable<Fields["compare"]>[number];

const MIB = 1024 * 1024;
const ID = "00000000-0000-4000-8000-0000000000AB";
const ID_BYTES = Uint8Array.fromHex("000000000000400080000000000000ab");
const SECONDS_MAX = 31_536_000n;
const LONG = "k".repeat(1_025);
const NONE = new Uint8Array();

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The operation of the state, of a request with these fields in the namespace `default`. */
function transact(fields: Fields): Transact {
  return transactField(TransactRequest.fromPartial({ namespace: "default", ...fields }));
}

/** So many transactions within each other, the innermost with these operations, as an operation of another one. */
function nested(depth: number, success: OperationFields[] = []): OperationFields {
  return { transaction: { success: depth === 1 ? success : [nested(depth - 1, success)] } };
}

function many<Item>(count: number, make: (at: number) => Item): Item[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

/** Reason, field and limit of the refusal, whose message names the field. */
function refusal(fields: Fields): readonly (string | undefined)[] {
  try {
    transact(fields);
  } catch (error) {
    expect(error).instanceOf(CoordinationError);
    const { reason, details, message } = error as CoordinationError;
    const field = details.get("field");
    expect(message, "the message names the field").to.include(`field ${field} `);
    return [reason, field, details.get("limit")].filter((part) => part !== undefined);
  }
  throw new Error("was not refused");
}

describe("the operations of a transaction", () => {
  const namespace = "default";
  const key = bytes("k");

  it("become those of the state, with every field", () => {
    const { success } = transact({
      success: [
        { put: { key: "k", value: bytes("v"), ttlSeconds: 9n, expectedModRevision: 0n, returnPrevious: true } },
        { delete: { key: "l", expectedModRevision: 7n, returnPrevious: true, missingOk: true } },
        { deletePrefix: { prefix: "p/" } },
        { touch: { key: "k", ttlSeconds: SECONDS_MAX } },
        { increment: { key: "n", delta: -(2n ** 53n - 1n), ttlSeconds: 1n } },
        { get: { key: "k" } },
        { list: { prefix: "p/", limit: 7, startAfter: "p/a", keysOnly: true } },
        { writeMemory: { regionId: ID, offset: 5n, data: bytes("d"), expectedVersion: 2n } },
        { readMemory: { regionId: ID, offset: 5n, length: BigInt(MIB) } },
        { release: { lockName: "l", fencingToken: 3n, rw: true } },
      ],
    });
    expect(success).to.deep.equal([
      {
        kind: "put-key",
        namespace,
        key,
        value: bytes("v"),
        ttlSeconds: 9,
        expectedModRevision: 0,
        returnPrevious: true,
      },
      {
        kind: "remove-key",
        namespace,
        key: bytes("l"),
        expectedModRevision: 7,
        returnPrevious: true,
        mayBeMissing: true,
      },
      { kind: "delete-keys", namespace, prefix: bytes("p/") },
      { kind: "touch-key", namespace, key, ttlSeconds: Number(SECONDS_MAX), expectedModRevision: undefined },
      { kind: "increment-key", namespace, key: bytes("n"), delta: -(2n ** 53n - 1n), ttlSeconds: 1 },
      { kind: "read-key", namespace, key },
      {
        kind: "list-keys",
        namespace,
        prefix: bytes("p/"),
        after: bytes("p/a"),
        entriesMax: 7,
        keysOnly: true,
      },
      { kind: "write-memory", namespace, regionId: ID_BYTES, offset: 5, data: bytes("d"), expectedVersion: 2 },
      { kind: "read-memory", namespace, regionId: ID_BYTES, offset: 5, length: MIB },
      {
        kind: "release-lock",
        namespace,
        name: "l",
        rw: true,
        mode: null,
        owner: "",
        fencingToken: 3,
      },
    ]);
  });

  it("have defaults", () => {
    const { success, failure, conditions } = transact({
      success: [{ put: { key: "k" } }, { delete: { key: "l" } }, { list: {} }, { transaction: {} }],
    });
    expect(success).to.deep.equal([
      {
        kind: "put-key",
        namespace,
        key,
        value: NONE,
        ttlSeconds: 0,
        expectedModRevision: undefined,
        returnPrevious: false,
      },
      {
        kind: "remove-key",
        namespace,
        key: bytes("l"),
        expectedModRevision: undefined,
        returnPrevious: false,
        mayBeMissing: false,
      },
      { kind: "list-keys", namespace, prefix: NONE, after: NONE, entriesMax: 100, keysOnly: false },
      { kind: "transact", namespace, conditions: [], success: [], failure: [] },
    ]);
    expect([failure, conditions]).to.deep.equal([[], []]);
  });

  it("append one event with a key or without, or a batch with the base of its keys", () => {
    const appends = [
      { logId: ID, payloads: [bytes("a")] },
      { logId: ID, payloads: [bytes("a")], idempotencyKey: "k", expectedSequence: 0n },
      { logId: ID, payloads: [bytes("a"), NONE], idempotencyKey: "k" },
    ];
    const { success } = transact({ success: appends.map((append) => ({ append })) });
    expect(
      success.map((one) => {
        const append = one as Extract<typeof one, { kind: "append-events" }>;
        const { isBatch, idempotencyKey, expectedSequence } = append;
        return [append.logId, append.payloads.count, isBatch, idempotencyKey, expectedSequence];
      }),
    ).to.deep.equal([
      [ID_BYTES, 1, false, null, undefined],
      [ID_BYTES, 1, false, "k", 0n],
      [ID_BYTES, 2, true, "k", undefined],
    ]);
  });

  const refused: readonly (readonly [OperationFields, string, ...string[]])[] = [
    [{}, "BAD_FIELD", ""],
    [{ put: { key: "k" }, get: { key: "k" } }, "BAD_FIELD", ""],
    [{ put: { key: "" } }, "BAD_FIELD", ".put.key", "1024"],
    [{ put: { key: LONG } }, "TOO_LARGE", ".put.key", "1024"],
    [{ put: { key: "k", value: new Uint8Array(MIB + 1) } }, "TOO_LARGE", ".put.value", String(MIB)],
    [{ put: { key: "k", ttlSeconds: -1n } }, "BAD_FIELD", ".put.ttl_seconds", String(SECONDS_MAX)],
    [{ put: { key: "k", ttlSeconds: SECONDS_MAX + 1n } }, "BAD_FIELD", ".put.ttl_seconds", String(SECONDS_MAX)],
    [{ put: { key: "k", expectedModRevision: -1n } }, "BAD_FIELD", ".put.expected_mod_revision"],
    [{ delete: { key: "" } }, "BAD_FIELD", ".delete.key", "1024"],
    [{ delete: { key: "k", expectedModRevision: -1n } }, "BAD_FIELD", ".delete.expected_mod_revision"],
    [{ deletePrefix: { prefix: LONG } }, "TOO_LARGE", ".delete_prefix.prefix", "1024"],
    [{ touch: { key: "" } }, "BAD_FIELD", ".touch.key", "1024"],
    [{ touch: { key: "k", ttlSeconds: -1n } }, "BAD_FIELD", ".touch.ttl_seconds", String(SECONDS_MAX)],
    [{ increment: { key: LONG } }, "TOO_LARGE", ".increment.key", "1024"],
    [{ increment: { key: "k", ttlSeconds: -1n } }, "BAD_FIELD", ".increment.ttl_seconds", String(SECONDS_MAX)],
    [{ get: { key: "" } }, "BAD_FIELD", ".get.key", "1024"],
    [{ list: { prefix: LONG } }, "TOO_LARGE", ".list.prefix", "1024"],
    [{ list: { startAfter: LONG } }, "TOO_LARGE", ".list.start_after", "1024"],
    [{ list: { limit: 1_001 } }, "BAD_FIELD", ".list.limit", "1000"],
    [{ list: { limit: -1 } }, "BAD_FIELD", ".list.limit", "1000"],
    [{ writeMemory: { regionId: "r" } }, "BAD_FIELD", ".write_memory.region_id"],
    [{ writeMemory: { regionId: ID, offset: -1n } }, "BAD_FIELD", ".write_memory.offset", "0"],
    [{ writeMemory: { regionId: ID, expectedVersion: -1n } }, "BAD_FIELD", ".write_memory.expected_version"],
    [{ readMemory: { regionId: "" } }, "BAD_FIELD", ".read_memory.region_id"],
    [{ readMemory: { regionId: ID, offset: -1n } }, "BAD_FIELD", ".read_memory.offset", "0"],
    [{ readMemory: { regionId: ID, length: -1n } }, "BAD_FIELD", ".read_memory.length", String(MIB)],
    [{ readMemory: { regionId: ID, length: BigInt(MIB) + 1n } }, "TOO_LARGE", ".read_memory.length", String(MIB)],
    [{ append: { logId: "l", payloads: [NONE] } }, "BAD_FIELD", ".append.log_id"],
    [{ append: { logId: ID } }, "BAD_FIELD", ".append.payloads", "10000"],
    [
      { append: { logId: ID, payloads: many(10_001, () => NONE), idempotencyKey: "k" } },
      "BAD_FIELD",
      ".append.payloads",
      "10000",
    ],
    [{ append: { logId: ID, payloads: [NONE, NONE] } }, "BAD_FIELD", ".append.idempotency_key", "1024"],
    [{ append: { logId: ID, payloads: [NONE], idempotencyKey: "\n" } }, "BAD_FIELD", ".append.idempotency_key", "1024"],
    [{ append: { logId: ID, payloads: [NONE], expectedSequence: -1n } }, "BAD_FIELD", ".append.expected_sequence"],
    [{ release: { lockName: "", fencingToken: 1n } }, "BAD_FIELD", ".release.lock_name", "256"],
    [{ release: { lockName: "l".repeat(257), fencingToken: 1n } }, "TOO_LARGE", ".release.lock_name", "256"],
    [{ release: { lockName: "l" } }, "BAD_FIELD", ".release.fencing_token"],
  ];

  for (const [at, [operation, reason, field, ...limit]] of refused.entries()) {
    const [name = "none"] = Object.keys(operation);
    it(`are refused with the path of the wrong field: ${name} (${at})`, () => {
      const good = { get: { key: "good" } };
      expect(refusal({ success: [good, operation] })).to.deep.equal([reason, `success[1]${field}`, ...limit]);
      expect(refusal({ failure: [operation] })).to.deep.equal([reason, `failure[0]${field}`, ...limit]);
      const within = { transaction: { failure: [good, good, operation] } };
      const path = `success[0].transaction.failure[2]${field}`;
      expect(refusal({ success: [within] })).to.deep.equal([reason, path, ...limit]);
    });
  }
});

describe("the comparisons of a transaction", () => {
  it("become conditions of the state, with every field and operator", () => {
    const { conditions } = transact({
      compare: [
        { key: { key: "k", exists: false } },
        { key: { key: "k", exists: true } },
        { key: { key: "k", operator: Operator.GREATER, value: NONE } },
        { key: { key: "k", operator: Operator.LESS, modRevision: 0n } },
        { key: { key: "k", operator: Operator.NOT_EQUAL, createRevision: 7n } },
        { key: { key: "k", version: 2n ** 53n - 1n } },
        { prefix: { prefix: "", unchangedSince: 0n } },
        { hold: { lockName: "l", fencingToken: 1n, rw: true } },
        { log: { logId: ID, operator: Operator.GREATER, lastSequence: 4n } },
      ],
    });
    const key = bytes("k");
    expect(conditions).to.deep.equal([
      { about: "key-number", key, of: "exists", operator: "=", number: 0 },
      { about: "key-number", key, of: "exists", operator: "=", number: 1 },
      { about: "key-value", key, operator: ">", value: NONE },
      { about: "key-number", key, of: "mod-revision", operator: "<", number: 0 },
      { about: "key-number", key, of: "create-revision", operator: "!=", number: 7 },
      { about: "key-number", key, of: "version", operator: "=", number: 2 ** 53 - 1 },
      { about: "prefix", prefix: NONE, unchangedSince: 0 },
      { about: "hold", lockName: "l", fencingToken: 1, rw: true },
      { about: "log", logId: ID_BYTES, operator: ">", lastSequence: 4 },
    ]);
  });

  const refused: readonly (readonly [CompareFields, string, ...string[]])[] = [
    [{}, "BAD_FIELD", ""],
    [{ prefix: {}, log: { logId: ID } }, "BAD_FIELD", ""],
    [{ key: { key: "k" } }, "BAD_FIELD", ".key"],
    [{ key: { key: "k", exists: true, version: 1n } }, "BAD_FIELD", ".key"],
    [{ key: { key: "", exists: true } }, "BAD_FIELD", ".key.key", "1024"],
    [{ key: { key: LONG, exists: true } }, "TOO_LARGE", ".key.key", "1024"],
    [{ key: { key: "k", exists: true, operator: Operator.NOT_EQUAL } }, "BAD_FIELD", ".key.operator"],
    [{ key: { key: "k", version: 1n, operator: 4 as Operator } }, "BAD_FIELD", ".key.operator"],
    [{ key: { key: "k", value: new Uint8Array(MIB + 1) } }, "TOO_LARGE", ".key.value", String(MIB)],
    [{ key: { key: "k", modRevision: -1n } }, "BAD_FIELD", ".key.mod_revision", "0"],
    [{ key: { key: "k", createRevision: -1n } }, "BAD_FIELD", ".key.create_revision", "0"],
    [{ key: { key: "k", version: -1n } }, "BAD_FIELD", ".key.version", "0"],
    [{ prefix: { prefix: LONG } }, "TOO_LARGE", ".prefix.prefix", "1024"],
    [{ prefix: { unchangedSince: -1n } }, "BAD_FIELD", ".prefix.unchanged_since", "0"],
    [{ hold: { lockName: "", fencingToken: 1n } }, "BAD_FIELD", ".hold.lock_name", "256"],
    [{ hold: { lockName: "l", fencingToken: 0n } }, "BAD_FIELD", ".hold.fencing_token"],
    [{ log: { logId: "l" } }, "BAD_FIELD", ".log.log_id"],
    [{ log: { logId: ID, lastSequence: -1n } }, "BAD_FIELD", ".log.last_sequence", "0"],
    [{ log: { logId: ID, operator: -1 as Operator } }, "BAD_FIELD", ".log.operator"],
  ];

  for (const [at, [compare, reason, field, ...limit]] of refused.entries()) {
    const [name = "none"] = Object.keys(compare);
    it(`are refused with the path of the wrong field: ${name} (${at})`, () => {
      const good = { key: { key: "good", exists: true } };
      expect(refusal({ compare: [good, compare] })).to.deep.equal([reason, `compare[1]${field}`, ...limit]);
      const within = { transaction: { compare: [compare] } };
      const path = `failure[0].transaction.compare[0]${field}`;
      expect(refusal({ failure: [within] })).to.deep.equal([reason, path, ...limit]);
    });
  }
});

describe("the request of a transaction", () => {
  it("has a namespace, and may have a guard", () => {
    const guard = { lockName: "l", fencingToken: 1n, rw: false };
    expect(transact({ guard }).guard).to.deep.equal({ ...guard, fencingToken: 1 });
    expect(transact({})).to.not.have.property("guard");
    expect(refusal({ namespace: "" })).to.deep.equal(["BAD_FIELD", "namespace", "63"]);
    expect(refusal({ guard: { ...guard, fencingToken: 0n } })).to.deep.equal(["BAD_FIELD", "guard.fencing_token"]);
  });

  it("has 10,000 operations, with those of nested transactions, and not one more", () => {
    const gets = (count: number) => many(count, () => ({ get: { key: "k" } }));
    const most = { success: gets(5_000), failure: [...gets(3_999), { transaction: { failure: gets(1_000) } }] };
    expect(transact(most).failure).to.have.length(4_000);
    const one = { get: { key: "k" } };
    expect(refusal({ ...most, success: [...most.success, one] })).to.deep.equal([
      "BAD_FIELD",
      "failure[3999].transaction.failure",
      "10000",
    ]);
    expect(refusal({ success: gets(10_001) })).to.deep.equal(["BAD_FIELD", "success", "10000"]);
  });

  it("has 10,000 comparisons, with those of nested transactions, and not one more", () => {
    const compare = many(9_999, () => ({ key: { key: "k", exists: true } }));
    const within = (count: number) => [{ transaction: { compare: compare.slice(0, count) } }];
    expect(transact({ compare, failure: within(1) }).conditions).to.have.length(9_999);
    const field = "failure[0].transaction.compare";
    expect(refusal({ compare, failure: within(2) })).to.deep.equal(["BAD_FIELD", field, "10000"]);
  });

  it("has 8 transactions within each other, with the outermost, and not one more", () => {
    expect(transact({ success: [nested(7)] }).success).to.have.length(1);
    const place = Array.from({ length: 8 }, () => "success[0].transaction").join(".");
    expect(refusal({ success: [nested(8)] })).to.deep.equal(["BAD_FIELD", place, "7"]);
  });

  it("has 100 operations that delete by prefix, list keys or append batches, and not one more", () => {
    const list = { list: {} };
    const batch = { append: { logId: ID, payloads: [NONE, NONE], idempotencyKey: "k" } };
    const event = { append: { logId: ID, payloads: [NONE] } };
    const some = [
      ...many(49, () => list),
      ...many(30, () => batch),
      event,
      nested(
        1,
        many(20, () => list),
      ),
    ];
    const removal = { deletePrefix: { prefix: "p" } };
    expect(transact({ success: [...some, removal] }).success).to.have.length(82);
    for (const operation of [list, batch, { deletePrefix: { prefix: "q" } }]) {
      const refused = ["BAD_FIELD", "success[82]", "100"];
      expect(refusal({ success: [...some, removal, operation] })).to.deep.equal(refused);
    }
    expect(transact({ success: [...some, removal, event] }).success).to.have.length(83);
  });
});

describe("the keys that a transaction writes", () => {
  const put = (key: string) => ({ put: { key } });
  const remove = (key: string) => ({ delete: { key } });
  const increment = (key: string) => ({ increment: { key } });
  const clear = (prefix: string) => ({ deletePrefix: { prefix } });
  const within = (success: OperationFields[], failure: OperationFields[] = []) => ({
    transaction: { success, failure },
  });

  const refused: readonly (readonly [string, OperationFields[], string, string])[] = [
    ["by two operations", [put("a"), put("b"), remove("a")], "success[2]", "success[0]"],
    ["by an increment", [increment("a"), increment("a")], "success[1]", "success[0]"],
    ["also by prefix", [put("ab"), clear("a")], "success[1]", "success[0]"],
    ["after a prefix", [clear("a"), put("ab")], "success[1]", "success[0]"],
    ["by a prefix of another one", [clear("ab"), clear("a")], "success[1]", "success[0]"],
    ["by a prefix within another one", [clear(""), clear("a")], "success[1]", "success[0]"],
    ["also in a nested one", [put("a"), within([], [put("a")])], "success[1].transaction.failure[0]", "success[0]"],
    ["behind a nested one", [within([put("a")]), put("a")], "success[1]", "success[0].transaction.success[0]"],
    [
      "by two nested ones",
      [within([clear("a")]), within([], [within([put("ab")])])],
      "success[1].transaction.failure[0].transaction.success[0]",
      "success[0].transaction.success[0]",
    ],
    [
      "twice in a branch of a nested one",
      [within([], [put("a"), clear("a")])],
      "success[0].transaction.failure[1]",
      "success[0].transaction.failure[0]",
    ],
  ];

  for (const [title, success, field, other] of refused) {
    it(`are written once: ${title}`, () => {
      expect(refusal({ success })).to.deep.equal(["BAD_FIELD", field]);
      expect(() => transact({ success })).to.throw(`that ${other} can write, too`);
      const failure = (place: string) => place.replace("success", "failure");
      expect(refusal({ failure: success })).to.deep.equal(["BAD_FIELD", failure(field)]);
    });
  }

  it("may be in both branches, also of a nested transaction, and be read and touched", () => {
    const reads = [{ get: { key: "a" } }, { touch: { key: "a" } }, { list: {} }];
    const both = within([put("a"), ...reads], [clear("a"), within([put("c")], [remove("c")])]);
    expect(transact({ success: [both, put("b"), ...reads], failure: [both] }).success).to.have.length(5);
  });

  it("are compared with those of thousands of nested transactions", () => {
    const success = [...many(5_000, (at) => put(`k${at}`)), ...many(4_998, () => within([]))];
    expect(transact({ success }).success).to.have.length(9_998);
    const last = within([], [put("k4999")]);
    expect(refusal({ success: [...success, last] })).to.deep.equal([
      "BAD_FIELD",
      "success[9998].transaction.failure[0]",
    ]);
  });
});
