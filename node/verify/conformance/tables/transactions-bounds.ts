/** Transact: every bound, at its edge. The transactions are large, so each entry runs alone. */

import { expect } from "chai";
import {
  committed,
  createdLog,
  type OperationFields,
  putKey,
  refusesTransaction,
  type Table,
  type TestContext,
  transact,
  transaction,
} from "../harness/index.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const OPERATIONS_MAX = 10_000;
const CHANGED_BYTES_MAX = 8 * MIB;
const SCANS_MAX = 100;
const READ_BYTES_MAX = MIB;

function many<Item>(count: number, make: (at: number) => Item): Item[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

/** Writes this many keys with values of this size below the prefix, and removes them at the end of the entry. */
async function writeMany(context: TestContext, count: number, bytes: number): Promise<string> {
  const prefix = `${context.name()}/`;
  for (let at = 0; at < count; at++) {
    await context.ask(putKey, { namespace: context.namespace, key: `${prefix}${at}`, value: Buffer.alloc(bytes, "v") });
  }
  return prefix;
}

export const transactionBounds: Table = {
  name: "Transact: bounds",
  alone: true,
  entries: {
    "10,000 operations in both lists and in nested transactions": async (context) => {
      const get = { get: { key: context.name() } };
      const nested = { transaction: { failure: many(3_000, () => get) } };
      const most = { success: many(4_000, () => get), failure: [...many(2_999, () => get), nested] };
      expect((await context.ask(transact, transaction(context, most))).results).to.have.lengthOf(4_000);
      const field = "failure[2999].transaction.failure";
      const more = { ...most, success: [...most.success, get] };
      await refusesTransaction(context, more, "BAD_FIELD", undefined, { field, limit: OPERATIONS_MAX });
    },
    "10,000 comparisons, also in nested transactions": async (context) => {
      const compare = many(6_000, () => ({ key: { key: context.prefix, exists: false } }));
      const nested = (count: number) => ({ success: [{ transaction: { compare: compare.slice(0, count) } }] });
      const answer = await context.ask(transact, transaction(context, { compare, ...nested(4_000) }));
      expect([answer.succeeded, answer.results[0]?.transaction?.succeeded]).to.deep.equal([true, true]);
      const field = "success[0].transaction.compare";
      const more = { compare, ...nested(4_001) };
      await refusesTransaction(context, more, "BAD_FIELD", undefined, { field, limit: OPERATIONS_MAX });
    },
    "100 operations that delete by prefix, list keys or append batches": async (context) => {
      const { logId } = await createdLog(context);
      const prefix = `${context.name()}/`;
      const payloads = [Buffer.from("a"), Buffer.from("b")];
      const scans = [
        ...many(40, () => ({ list: { prefix } })),
        ...many(30, (at) => ({ deletePrefix: { prefix: `${prefix}${at}/` } })),
        ...many(30, (at) => ({ append: { logId, payloads, idempotencyKey: String(at) } })),
      ];
      const event = { append: { logId, payloads: [Buffer.from("c")] } };
      const answer = await committed(context, [...scans, event]);
      expect(answer.results.at(-1)?.append?.lastSequence).to.equal(61n);
      for (const scan of [{ list: { prefix } }, { append: { logId, payloads, idempotencyKey: "k" } }]) {
        const details = { field: "success[100]", limit: SCANS_MAX };
        await refusesTransaction(context, { success: [...scans, scan] }, "BAD_FIELD", undefined, details);
      }
    },
    "10,000 changed keys": async (context) => {
      const prefix = `${context.name()}/`;
      const puts = many(OPERATIONS_MAX, (at) => ({ put: { key: prefix + at } }));
      const put = await committed(context, puts);
      expect(put.results.every((result) => result.put?.created === true)).to.equal(true);
      const removal = { deletePrefix: { prefix } };
      const more = { success: [{ put: { key: context.name() } }, removal] };
      await refusesTransaction(context, more, "TOO_LARGE", "success[1]", { limit: OPERATIONS_MAX });
      const removed = await committed(context, [removal, { get: { key: `${prefix}0` } }]);
      expect(removed.results[0]?.deletePrefix?.deletedKeys).to.equal(BigInt(OPERATIONS_MAX));
      expect(removed.results[1]?.get?.kv).to.equal(undefined);
    },
    "8 MiB of changes: keys with their values before and after": async (context) => {
      const prefix = await writeMany(context, 8, MIB - 2 * KIB);
      const removal = { deletePrefix: { prefix } };
      const over = { put: { key: context.name(), value: Buffer.alloc(16 * KIB) } };
      const details = { limit: CHANGED_BYTES_MAX };
      await refusesTransaction(context, { success: [removal, over] }, "TOO_LARGE", "success[1]", details);
      expect((await committed(context, [removal])).results[0]?.deletePrefix?.deletedKeys).to.equal(8n);
    },
    "4 MiB of values in the answer": async (context) => {
      const prefix = await writeMany(context, 4, MIB - KIB);
      const get = (at: number): OperationFields => ({ get: { key: `${prefix}${at}` } });
      const some = [get(0), get(1), get(2)];
      const answer = await committed(context, some);
      expect(answer.results.map(({ get: read }) => read?.kv?.value.length)).to.deep.equal(many(3, () => MIB - KIB));
      await refusesTransaction(context, { success: [...some, get(3)] }, "TOO_LARGE", "success[3]");
      await committed(context, [{ deletePrefix: { prefix } }]);
    },
    "4 MiB of the request, 1 MiB of a value, 1 MiB of a read": async (context) => {
      const prefix = `${context.name()}/`;
      const put = (at: number, bytes: number): OperationFields => ({
        put: { key: `${prefix}${at}`, value: Buffer.alloc(bytes, "v") },
      });
      const most = [...many(3, (at) => put(at, MIB)), put(3, MIB - 2 * KIB)];
      await committed(context, most);
      await committed(context, [{ deletePrefix: { prefix } }]);
      const more = transaction(context, { success: many(5, (at) => put(at, MIB)) });
      expect((await context.here.call(transact, more)).code).to.equal("RESOURCE_EXHAUSTED");
      const value = { field: "success[0].put.value", limit: MIB };
      await refusesTransaction(context, { success: [put(0, MIB + 1)] }, "TOO_LARGE", undefined, value);
      const read = { readMemory: { regionId: crypto.randomUUID(), length: BigInt(READ_BYTES_MAX) } };
      await refusesTransaction(context, { success: [read] }, "REGION_NOT_FOUND", "success[0]");
      read.readMemory.length += 1n;
      const length = { field: "success[0].read_memory.length", limit: READ_BYTES_MAX };
      await refusesTransaction(context, { success: [read] }, "TOO_LARGE", undefined, length);
    },
  },
};
