/** Transact: each reason for which an operation is refused, that nothing is changed then, retries, and access. */

import { randomUUID } from "node:crypto";
import { expect } from "chai";
import {
  acquireLock,
  allocateMemory,
  committed,
  createdLog,
  describeLock,
  expectReplay,
  getKey,
  getLog,
  listKeys,
  type OperationFields,
  putKey,
  type Reason,
  readMemory,
  refusesTransaction,
  replayed,
  type Table,
  type TestContext,
  type TransactFields,
  transact,
  transaction,
} from "../harness/index.ts";
import { ABSENT_ID } from "./every-operation.ts";

/** Answers larger than this are stored without values. */
const STORED_BYTES_MAX = 4 * 1024;
const INT64_MAX = 2n ** 63n - 1n;

/** One of each thing that a transaction can change. */
interface World {
  readonly text: string;
  /** A key whose value begins with a 0. */
  readonly padded: string;
  readonly number: string;
  readonly regionId: string;
  readonly logId: string;
  readonly lock: { readonly namespace: string; readonly name: string };
  readonly fencingToken: bigint;
}

async function newWorld(context: TestContext): Promise<World> {
  const { namespace } = context;
  const [text, padded, number] = [context.name(), context.name(), context.name()];
  await context.ask(putKey, { namespace, key: text, value: Buffer.from("text") });
  await context.ask(putKey, { namespace, key: padded, value: Buffer.from("01") });
  await context.ask(putKey, { namespace, key: number, value: Buffer.from(String(INT64_MAX)) });
  const { regionId } = await context.ask(allocateMemory, { namespace, sizeBytes: 10n });
  const { logId } = await createdLog(context);
  const lock = await context.lock();
  const { fencingToken } = await context.ask(acquireLock, lock);
  return { text, padded, number, regionId, logId, lock, fencingToken };
}

/** Changes all of it, if it is not refused. */
function changes({ text, regionId, logId, lock, fencingToken }: World): OperationFields[] {
  return [
    { put: { key: text, value: Buffer.from("changed") } },
    { writeMemory: { regionId, data: Buffer.from("changed") } },
    { append: { logId, payloads: [Buffer.from("changed")] } },
    { release: { lockName: lock.name, fencingToken } },
  ];
}

/** What is there, read at the other member. */
async function stateOf(context: TestContext, world: World): Promise<object> {
  const { namespace } = context;
  const { regionId, logId, lock } = world;
  const { items } = await context.askElsewhere(listKeys, { namespace, prefix: context.prefix });
  const { version, data } = await context.askElsewhere(readMemory, { namespace, regionId, length: 10n });
  const { log } = await context.askElsewhere(getLog, { logId });
  const { holder } = await context.askElsewhere(describeLock, lock);
  return { items, version, data, lastSequence: log?.lastSequence, token: holder?.fencingToken };
}

/** Operations that are refused, each with the reason and the details that it has alone. */
const REFUSED: Readonly<
  Record<string, readonly [reason: Reason, make: (world: World) => OperationFields, details?: object]>
> = {
  "a deletion of a key that does not exist": ["KEY_NOT_FOUND", () => ({ delete: { key: "none" } })],
  "a touch of a key that does not exist": ["KEY_NOT_FOUND", () => ({ touch: { key: "none" } })],
  "a put over another revision": [
    "REVISION_MISMATCH",
    () => ({ put: { key: "none", expectedModRevision: 7n } }),
    { mod_revision: "0" },
  ],
  "a deletion of another revision": [
    "REVISION_MISMATCH",
    ({ number }) => ({ delete: { key: number, expectedModRevision: 1n, missingOk: true } }),
  ],
  "an increment of what is no number": [
    "NOT_A_NUMBER",
    ({ padded }) => ({ transaction: { success: [{ increment: { key: padded } }] } }),
  ],
  "an increment beyond 64 bits": [
    "NUMBER_OVERFLOW",
    ({ number }) => ({ increment: { key: number, delta: 1n } }),
    { value: String(INT64_MAX) },
  ],
  "a write of a region that does not exist": ["REGION_NOT_FOUND", () => ({ writeMemory: { regionId: ABSENT_ID } })],
  "a read of a region that does not exist": ["REGION_NOT_FOUND", () => ({ readMemory: { regionId: ABSENT_ID } })],
  "a write beyond a region": [
    "MEMORY_BOUNDS",
    ({ regionId }) => ({ writeMemory: { regionId, offset: 10n, data: Buffer.from("x") } }),
  ],
  "a read beyond a region": [
    "MEMORY_BOUNDS",
    ({ regionId }) => ({ readMemory: { regionId, offset: 10n, length: 1n } }),
  ],
  "a write over another version": [
    "VERSION_MISMATCH",
    ({ regionId }) => ({ writeMemory: { regionId, expectedVersion: 7n } }),
  ],
  "an append to a log that does not exist": [
    "LOG_NOT_FOUND",
    () => ({ append: { logId: ABSENT_ID, payloads: [Buffer.from("x")] } }),
  ],
  "an append behind another event": [
    "SEQUENCE_CONFLICT",
    ({ logId }) => ({ append: { logId, payloads: [Buffer.from("x")], expectedSequence: 0n } }),
    { last_sequence: "1" },
  ],
  "a release of another hold": [
    "NOT_LOCK_HOLDER",
    ({ lock, fencingToken }) => ({ release: { lockName: lock.name, fencingToken: fencingToken + 1n } }),
  ],
  "a release of a lock that does not exist": [
    "LOCK_NOT_FOUND",
    () => ({ release: { lockName: "there is no such lock", fencingToken: 1n } }),
  ],
};

const refusals: Table = {
  name: "Transact: refusals",
  entries: Object.fromEntries(
    Object.entries(REFUSED).map(([what, [reason, make, details = {}]]) => [
      `for ${what}: nothing is changed`,
      async (context: TestContext) => {
        const world = await newWorld(context);
        const before = await stateOf(context, world);
        const refused = make(world);
        const success = [...changes(world), refused];
        const place = refused.transaction === undefined ? "success[4]" : "success[4].transaction.success[0]";
        const metadata = await refusesTransaction(context, { success }, reason, place);
        expect(Object.fromEntries(metadata)).to.include(details);
        const other = { compare: [{ key: { key: world.text, exists: false } }], failure: success };
        await refusesTransaction(context, other, reason, place.replace("success", "failure"));
        expect(await stateOf(context, world)).to.deep.equal(before);
        await committed(context, changes(world));
        expect(await stateOf(context, world)).to.not.deep.equal(before);
      },
    ]),
  ),
};

const further: Table = {
  name: "Transact: what is refused as a whole",
  entries: {
    "whatever needs a hold that is not live": async (context) => {
      const world = await newWorld(context);
      const before = await stateOf(context, world);
      const { lock, fencingToken } = world;
      const guard = { lockName: lock.name, fencingToken, rw: false };
      for (const wrong of [
        { ...guard, fencingToken: fencingToken + 1n },
        { ...guard, rw: true },
        { ...guard, lockName: context.name() },
      ]) {
        await refusesTransaction(context, { success: changes(world), guard: wrong }, "FENCED");
      }
      expect(await stateOf(context, world)).to.deep.equal(before);
      await committed(context, changes(world), { guard });
    },
    "comparisons and appends of a log that does not exist, or is in another namespace": async (context) => {
      const namespace = await context.newNamespace();
      const elsewhere = await createdLog(context, { namespace });
      for (const logId of [ABSENT_ID, elsewhere.logId]) {
        const compare = [{ key: { key: "none", exists: false } }, { log: { logId, lastSequence: 0n } }];
        await refusesTransaction(context, { compare }, "LOG_NOT_FOUND", "compare[1]");
        const nested = { transaction: { compare: [{ log: { logId } }] } };
        const place = "success[0].transaction.compare[0]";
        await refusesTransaction(context, { success: [nested] }, "LOG_NOT_FOUND", place);
        const append = { append: { logId, payloads: [Buffer.from("x")] } };
        await refusesTransaction(context, { success: [append] }, "LOG_NOT_FOUND", "success[0]");
      }
      await committed(context, [{ append: { logId: elsewhere.logId, payloads: [Buffer.from("x")] } }], { namespace });
    },
    "two operations that can write the same key": async (context) => {
      const key = context.name();
      const put = { put: { key } };
      const nested = (success: OperationFields[], failure: OperationFields[] = []): OperationFields => ({
        transaction: { success, failure },
      });
      for (const [success, field] of [
        [[put, { delete: { key } }], "success[1]"],
        [[{ increment: { key } }, put], "success[1]"],
        [[put, { deletePrefix: { prefix: key.slice(0, -1) } }], "success[1]"],
        [[{ deletePrefix: { prefix: key } }, put], "success[1]"],
        [[put, nested([], [put])], "success[1].transaction.failure[0]"],
      ] as const) {
        await refusesTransaction(context, { success: [...success] }, "BAD_FIELD", undefined, { field });
      }
      const inBoth = nested([put], [{ deletePrefix: { prefix: key } }]);
      await committed(context, [{ get: { key } }, { list: { prefix: key } }, inBoth], { failure: [put] });
    },
    "operations and comparisons that are none, or several": async (context) => {
      const bad: readonly (readonly [TransactFields, string])[] = [
        [{ success: [{}] }, "success[0]"],
        [{ failure: [{ get: { key: "a" } }, {}] }, "failure[1]"],
        [{ compare: [{}] }, "compare[0]"],
        [{ compare: [{ key: { key: "a" } }] }, "compare[0].key"],
      ];
      // The library that makes JSON keeps one of several.
      const several: readonly (typeof bad)[number][] = [
        [{ success: [{ get: { key: "a" }, put: { key: "a" } }] }, "success[0]"],
        [{ compare: [{ prefix: {}, key: { key: "a", exists: true } }] }, "compare[0]"],
        [{ compare: [{ key: { key: "a", exists: true, version: 1n } }] }, "compare[0].key"],
      ];
      for (const [fields, field] of [...bad, ...(context.here.protocol === "grpc" ? several : [])]) {
        await refusesTransaction(context, fields, "BAD_FIELD", undefined, { field });
      }
    },
  },
};

const access: Table = {
  name: "Transact: access",
  entries: {
    "read is enough for reads, also in nested transactions, and for nothing else": async (context) => {
      const token = context.otherToken(
        "whose highest access is read and for all namespaces",
        (claims) => !claims.access.includes("write") && claims.namespaces.includes("*"),
      );
      const { namespace } = context;
      const connection = context.testRun.at(context.here.endpoint, token);
      const key = context.name();
      await context.ask(putKey, { namespace, key });
      const { regionId } = await context.ask(allocateMemory, { namespace, sizeBytes: 1n });
      const reads = [{ get: { key } }, { list: {} }, { readMemory: { regionId, length: 1n } }];
      const isThere = { key: { key, exists: true } };
      const only = { compare: [isThere], success: [...reads, { transaction: { success: reads } }], failure: reads };
      const metadata = { authorization: `Bearer ${token}` };
      const answer = await context.ask(transact, transaction(context, only), { metadata });
      expect(answer.succeeded).to.equal(true);
      const put = { put: { key } };
      for (const fields of [{ success: [put] }, { failure: [{ transaction: { failure: [put] } }] }]) {
        await refusesTransaction(context, fields, "ACCESS_DENIED", undefined, { connection });
      }
    },
  },
};

const replay: Table = {
  name: "Transact: replay by request id",
  entries: {
    "answers as the first time did, at any member, and runs nothing again": async (context) => {
      const world = await newWorld(context);
      const { namespace } = context;
      const key = context.name();
      const success = [
        ...changes(world),
        { increment: { key, delta: 1n } },
        { get: { key: world.text } },
        { list: { prefix: context.prefix } },
        { readMemory: { regionId: world.regionId, length: 5n } },
      ];
      await expectReplay(context, transact, transaction(context, { success }));
      expect((await context.ask(getKey, { namespace, key })).version, "executed once").to.equal(1n);
      const compare = [{ key: { key, exists: false } }];
      const failure = [{ transaction: { compare, failure: [{ get: { key } }] } }];
      await expectReplay(context, transact, transaction(context, { compare, failure }));
      const ttl = [{ put: { key, ttlSeconds: 60n, returnPrevious: true } }];
      await expectReplay(context, transact, transaction(context, { success: ttl }));
      expect((await context.ask(getKey, { namespace, key })).version).to.equal(2n);
    },
    "answers refusals again, though they would not be given any more": async (context) => {
      const { namespace } = context;
      const key = context.name();
      const fields = { success: [{ touch: { key } }] };
      const options = { metadata: { "request-id": randomUUID() } };
      await refusesTransaction(context, fields, "KEY_NOT_FOUND", "success[0]", options);
      await context.ask(putKey, { namespace, key });
      const connection = context.elsewhere;
      await refusesTransaction(context, fields, "KEY_NOT_FOUND", "success[0]", { ...options, connection });
    },
    "S13: refuses the id with another payload or for another operation": async (context) => {
      const { namespace } = context;
      const key = context.name();
      const options = { metadata: { "request-id": randomUUID() } };
      const fields = { success: [{ put: { key } }], failure: [{ get: { key } }] };
      await context.ask(transact, transaction(context, fields), options);
      for (const other of [
        { ...fields, compare: [{ key: { key, exists: true } }] },
        { ...fields, success: [{ put: { key, value: Buffer.from("x") } }] },
        { ...fields, success: [{ delete: { key } }] },
        { ...fields, success: [...fields.success, ...fields.failure] },
        { ...fields, failure: [] },
        { success: fields.failure, failure: fields.success },
        { ...fields, guard: { lockName: "l", fencingToken: 1n, rw: false } },
      ]) {
        const connection = context.elsewhere;
        await refusesTransaction(context, other, "REQUEST_ID_REUSED", undefined, { ...options, connection });
      }
      await context.refuses(putKey, { namespace, key }, "REQUEST_ID_REUSED", options);
      expect((await context.ask(getKey, { namespace, key })).version).to.equal(1n);
    },
    "leaves out values that are too large to be stored, and says so": async (context) => {
      const { namespace } = context;
      const key = context.name();
      await context.ask(putKey, { namespace, key, value: Buffer.alloc(STORED_BYTES_MAX + 1, "v") });
      const options = { metadata: { "request-id": randomUUID() } };
      const request = transaction(context, { success: [{ get: { key } }, { increment: { key: context.name() } }] });
      const first = await context.ask(transact, request, options);
      expect([first.valuesOmitted, first.results[0]?.get?.kv?.value.length]).to.deep.equal([
        ...[false, STORED_BYTES_MAX + 1],
      ]);
      for (const connection of [context.elsewhere, context.here]) {
        const again = await connection.call(transact, request, options);
        expect([replayed(again), again.response?.valuesOmitted, again.response?.revision]).to.deep.equal([
          ...["no-values", true, first.revision],
        ]);
        const [read, sum] = again.response?.results ?? [];
        expect([read?.get?.kv?.value.length, sum]).to.deep.equal([0, first.results[1]]);
      }
    },
    "executes a transaction once that is sent to several members at the same time": async (context) => {
      const key = context.name();
      const options = { metadata: { "request-id": randomUUID() } };
      const request = transaction(context, { success: [{ increment: { key, delta: 1n } }] });
      const members = [context.here, context.elsewhere, context.here, context.elsewhere];
      const answers = await Promise.all(members.map((connection) => connection.call(transact, request, options)));
      for (const { code, response } of answers) {
        expect([code, response]).to.deep.equal(["OK", answers[0]?.response]);
      }
      expect(answers.filter((answer) => replayed(answer) === "true")).to.have.lengthOf(members.length - 1);
      expect(answers[0]?.response?.results[0]?.increment?.value).to.equal(1n);
    },
  },
};

export const transactionRefusals: readonly Table[] = [refusals, further, access, replay];
