/** Transact: what each operation does within a transaction, their order, one revision, and what others see. */

import { type AppendResult, RWMode, type TransactResponse } from "@quoin/proto";
import { expect } from "chai";
import {
  acquireLock,
  acquireRWLock,
  allocateMemory,
  committed,
  createdLog,
  describeLock,
  describeRWLock,
  expectFields,
  getKey,
  isWithinSeconds,
  listKeys,
  type OperationFields,
  putKey,
  readEventPage,
  readMemory,
  refusesTransaction,
  resultsOf,
  type Table,
  type TestContext,
  transact,
  transaction,
} from "../harness/index.ts";

const VALUE = Buffer.from("first value");
const OTHER = Buffer.from("second value");
const EMPTY = Buffer.alloc(0);
const INT64_MAX = 2n ** 63n - 1n;

/** The key as the transaction or call of this revision has created it. */
function created(key: string, value: Uint8Array, revision: bigint) {
  return { key, value, createRevision: revision, modRevision: revision, version: 1n, expiresInMs: 0n, sessionId: 0n };
}

async function newRegion(context: TestContext): Promise<string> {
  return (await context.ask(allocateMemory, { namespace: context.namespace, sizeBytes: 10n })).regionId;
}

/** The sequences of all events of an append, in its order. */
function sequencesIn(appended: AppendResult | undefined): readonly number[] {
  return (appended?.runs ?? []).flatMap(({ firstSequence, count }) =>
    Array.from({ length: Number(count) }, (_, at) => Number(firstSequence) + at),
  );
}

/** The payloads of the log, read at the other member. */
async function textsOf(context: TestContext, logId: string): Promise<readonly string[]> {
  const { events } = await context.askElsewhere(readEventPage, { logId, pageSize: 1_000 });
  return events.map(({ payload }) => Buffer.from(payload).toString());
}

const keys: Table = {
  name: "Transact: keys",
  entries: {
    "run in order, at one revision, and each operation sees what those before it have changed": async (context) => {
      const { namespace } = context;
      const prefix = `${context.name()}/`;
      const [a, b, n] = [`${prefix}a`, `${prefix}b`, `${prefix}n`];
      const before = await context.askElsewhere(putKey, { namespace, key: b, value: OTHER });
      const answer = await committed(context, [
        { get: { key: a } },
        { put: { key: a, value: VALUE } },
        { get: { key: a } },
        { increment: { key: n, delta: 5n } },
        { list: { prefix } },
        { delete: { key: b } },
        { get: { key: b } },
        { list: { prefix, keysOnly: true, limit: 1, startAfter: `${prefix}A` } },
      ]);
      const { revision } = answer;
      expect(resultsOf(answer)).to.deep.equal([
        { get: { kv: undefined } },
        { put: { created: true, previous: undefined } },
        { get: { kv: created(a, VALUE, revision) } },
        { increment: { value: 5n, created: true } },
        {
          list: {
            items: [
              created(a, VALUE, revision),
              created(b, OTHER, before.revision),
              created(n, Buffer.from("5"), revision),
            ],
            more: false,
          },
        },
        { delete: { deleted: true, previous: undefined } },
        { get: { kv: undefined } },
        { list: { items: [created(a, EMPTY, revision)], more: true } },
      ]);
      expectFields(answer, {
        succeeded: true,
        results: answer.results,
        failedCompare: undefined,
        valuesOmitted: false,
        revision: (value: bigint) => value > before.revision,
      });
      const { items } = await context.askElsewhere(listKeys, { namespace, prefix });
      expect(items).to.deep.equal([created(a, VALUE, revision), created(n, Buffer.from("5"), revision)]);
    },
    "put, delete and touch as the calls of these names do": async (context) => {
      const { namespace } = context;
      const [key, other] = [context.name(), context.name()];
      const first = await context.ask(putKey, { namespace, key, value: VALUE });
      const second = await committed(context, [
        { put: { key, value: OTHER, ttlSeconds: 60n, expectedModRevision: first.revision, returnPrevious: true } },
        { put: { key: other, expectedModRevision: 0n, returnPrevious: true } },
        { touch: { key: other, ttlSeconds: 90n } },
        { touch: { key, ttlSeconds: 0n } },
      ]);
      const [overwritten, made, touched, untouched] = second.results;
      expect(overwritten?.put).to.deep.equal({ created: false, previous: created(key, VALUE, first.revision) });
      expect(made?.put).to.deep.equal({ created: true, previous: undefined });
      expect(isWithinSeconds(90n)(touched?.touch?.expiresInMs ?? 0n)).to.equal(true);
      expect(untouched?.touch).to.deep.equal({ expiresInMs: 0n });
      const found = await context.askElsewhere(getKey, { namespace, key });
      expect([found.version, found.expiresInMs, found.modRevision]).to.deep.equal([2n, 0n, second.revision]);
      const gone = await committed(context, [
        { delete: { key, expectedModRevision: second.revision, returnPrevious: true } },
        { delete: { key: other } },
        { delete: { key: context.name(), missingOk: true, returnPrevious: true } },
      ]);
      const previous = { ...created(key, OTHER, first.revision), modRevision: second.revision, version: 2n };
      expect(resultsOf(gone)).to.deep.equal([
        { delete: { deleted: true, previous } },
        { delete: { deleted: true, previous: undefined } },
        { delete: { deleted: false, previous: undefined } },
      ]);
      await context.refuses(getKey, { namespace, key }, "KEY_NOT_FOUND", { connection: context.elsewhere });
      await context.refuses(getKey, { namespace, key: other }, "KEY_NOT_FOUND");
    },
    "increment numbers of 64 bits, of keys that keep their time to live": async (context) => {
      const { namespace } = context;
      const [key, negative] = [context.name(), context.name()];
      const add = async (delta: bigint, ttlSeconds = 0n) =>
        (await committed(context, [{ increment: { key, delta, ttlSeconds } }])).results[0]?.increment;
      expect(await add(7n, 60n)).to.deep.equal({ value: 7n, created: true });
      expect(await add(-10n)).to.deep.equal({ value: -3n, created: false });
      const found = await context.askElsewhere(getKey, { namespace, key });
      expect([Buffer.from(found.value).toString(), found.version]).to.deep.equal(["-3", 2n]);
      expect(isWithinSeconds(60n)(found.expiresInMs)).to.equal(true);
      await context.ask(putKey, { namespace, key, value: Buffer.from(String(INT64_MAX - 1n)) });
      expect(await add(1n)).to.deep.equal({ value: INT64_MAX, created: false });
      await context.ask(putKey, { namespace, key: negative, value: Buffer.from(String(-INT64_MAX)) });
      const lowest = await committed(context, [{ increment: { key: negative, delta: -1n } }]);
      expect(lowest.results[0]?.increment?.value).to.equal(-INT64_MAX - 1n);
    },
    "add up, by whichever members": async (context) => {
      const key = context.name();
      const one = transaction(context, { success: [{ increment: { key, delta: 1n } }] });
      const all = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          at % 2 === 0 ? context.ask(transact, one) : context.askElsewhere(transact, one),
        ),
      );
      const numbers = all.map(({ results }) => Number(results[0]?.increment?.value));
      expect(numbers.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 20 }, (_, at) => at + 1));
    },
    "delete by prefix what is there at that moment, and nothing else": async (context) => {
      const { namespace } = context;
      const prefix = `${context.name()}/`;
      const neighbour = `${prefix.slice(0, -1)}0`;
      await committed(
        context,
        [...["a", "ä", "\u{1F600}"].map((end) => prefix + end), neighbour].map((key) => ({ put: { key } })),
      );
      const answer = await committed(context, [
        { deletePrefix: { prefix } },
        { list: { prefix } },
        { deletePrefix: { prefix: `${neighbour}-none` } },
      ]);
      expect(resultsOf(answer)).to.deep.equal([
        { deletePrefix: { deletedKeys: 3n } },
        { list: { items: [], more: false } },
        { deletePrefix: { deletedKeys: 0n } },
      ]);
      const { items } = await context.askElsewhere(listKeys, { namespace, prefix: prefix.slice(0, -1) });
      expect(items.map(({ key }) => key)).to.deep.equal([neighbour]);
    },
    "take no revision if they only read, also keys that do not exist": async (context) => {
      const key = context.name();
      const { revision } = await committed(context, [{ put: { key } }]);
      const read = await committed(context, [{ get: { key } }, { delete: { key: context.name(), missingOk: true } }]);
      expect(read.revision >= revision).to.equal(true);
      expect(read.results[0]?.get?.kv?.modRevision).to.equal(revision);
      const nothing = await committed(context, []);
      expect([nothing.succeeded, nothing.results]).to.deep.equal([true, []]);
    },
    "show no reader a part of what they do": async (context) => {
      const { namespace } = context;
      const prefix = `${context.name()}/`;
      const ends = ["a", "b", "c"];
      const write = async (turn: number) =>
        committed(
          context,
          ends.map((end) => ({ put: { key: prefix + end, value: Buffer.from(String(turn)) } })),
        );
      const read = async () => (await context.askElsewhere(listKeys, { namespace, prefix })).items;
      await write(0);
      for (let turn = 1; turn <= 10; turn++) {
        const [, items] = await Promise.all([write(turn), read()]);
        const seen = items.map(({ value, modRevision }) => `${Buffer.from(value)} at ${modRevision}`);
        expect([seen.length, new Set(seen).size], seen.join(", ")).to.deep.equal([3, 1]);
      }
    },
  },
};

const nested: Table = {
  name: "Transact: nested transactions",
  entries: {
    "compare and change what those before have left, and answer with results of their own": async (context) => {
      const key = context.name();
      const other = context.name();
      const isThere = (name: string) => ({ key: { key: name, exists: true } });
      const answer = await committed(context, [
        { put: { key, value: VALUE } },
        {
          transaction: {
            compare: [isThere(key), isThere(other), isThere(other)],
            success: [{ delete: { key: other } }],
            failure: [{ get: { key } }, { put: { key: other } }],
          },
        },
        { transaction: { compare: [isThere(other)], success: [{ get: { key: other } }] } },
        { transaction: {} },
      ]);
      const kv = created(key, VALUE, answer.revision);
      const [put, first, second, none] = answer.results;
      expect(put?.put?.created).to.equal(true);
      expect([first?.transaction?.succeeded, first?.transaction?.failedCompare]).to.deep.equal([false, 1]);
      expect(resultsOf(first?.transaction ?? { results: [] })).to.deep.equal([
        { get: { kv } },
        { put: { created: true, previous: undefined } },
      ]);
      expect([second?.transaction?.succeeded, second?.transaction?.failedCompare]).to.deep.equal([true, undefined]);
      expect(second?.transaction?.results[0]?.get?.kv).to.deep.equal(created(other, EMPTY, answer.revision));
      expect(none?.transaction).to.deep.equal({ succeeded: true, results: [], failedCompare: undefined });
    },
    "lie up to 8 deep within each other, and no deeper": async (context) => {
      const key = context.name();
      const within = (depth: number): OperationFields =>
        depth === 1 ? { put: { key } } : { transaction: { success: [within(depth - 1)] } };
      let innermost: Pick<TransactResponse, "results"> | undefined = await committed(context, [within(8)]);
      for (let depth = 2; depth <= 8; depth++) {
        innermost = innermost?.results[0]?.transaction;
      }
      expect(innermost?.results[0]?.put?.created).to.equal(true);
      const field = Array.from({ length: 8 }, () => "success[0].transaction").join(".");
      await refusesTransaction(context, { success: [within(9)] }, "BAD_FIELD", undefined, { field, limit: 7 });
    },
    "are refused with the place of the operation": async (context) => {
      const { namespace } = context;
      const key = context.name();
      const absent = { touch: { key: context.name() } };
      const inner = {
        transaction: { compare: [{ key: { key, exists: false } }], failure: [{ get: { key } }, absent] },
      };
      const place = "success[1].transaction.failure[1]";
      await refusesTransaction(context, { success: [{ put: { key } }, inner] }, "KEY_NOT_FOUND", place);
      await context.refuses(getKey, { namespace, key }, "KEY_NOT_FOUND");
    },
  },
};

const memory: Table = {
  name: "Transact: memory",
  entries: {
    "is read and written, and its version counts the writes": async (context) => {
      const { namespace } = context;
      const regionId = await newRegion(context);
      const key = context.name();
      const answer = await committed(context, [
        { writeMemory: { regionId, offset: 8n, data: Buffer.from("yz"), expectedVersion: 1n } },
        { readMemory: { regionId, offset: 7n, length: 3n } },
        { writeMemory: { regionId: regionId.toUpperCase(), data: Buffer.from("a"), expectedVersion: 2n } },
        { readMemory: { regionId, offset: 10n, length: 0n } },
        { put: { key } },
      ]);
      expect(resultsOf(answer)).to.deep.equal([
        { writeMemory: { version: 2n } },
        { readMemory: { data: Buffer.from("\0yz"), version: 2n } },
        { writeMemory: { version: 3n } },
        { readMemory: { data: EMPTY, version: 3n } },
        { put: { created: true, previous: undefined } },
      ]);
      const read = await context.askElsewhere(readMemory, { namespace, regionId, length: 10n });
      expect([read.data, read.version]).to.deep.equal([Buffer.from("a\0\0\0\0\0\0\0yz"), 3n]);
      expect((await context.ask(getKey, { namespace, key })).modRevision).to.equal(answer.revision);
    },
  },
};

const logs: Table = {
  name: "Transact: appends",
  entries: {
    "store events, each key once, also within the transaction": async (context) => {
      const { logId } = await createdLog(context);
      const event = (text: string, idempotencyKey = "") => ({
        append: { logId, payloads: [Buffer.from(text)], idempotencyKey },
      });
      const batch = (texts: string[]) => ({
        append: { logId, payloads: texts.map((text) => Buffer.from(text)), idempotencyKey: "b" },
      });
      const first = await committed(context, [
        event("1"),
        event("2", "k"),
        event("not stored", "k"),
        batch(["3", "4"]),
        batch(["not stored", "nor this", "5"]),
      ]);
      expect(first.results.map(({ append }) => sequencesIn(append))).to.deep.equal([[1], [2], [2], [3, 4], [3, 4, 5]]);
      expect(first.results.map(({ append }) => append?.lastSequence)).to.deep.equal([1n, 2n, 2n, 4n, 5n]);
      const again = await committed(context, [event("not stored", "k"), event("6")]);
      expect(again.results.map(({ append }) => append?.lastSequence)).to.deep.equal([2n, 6n]);
      expect(await textsOf(context, logId)).to.deep.equal(["1", "2", "3", "4", "5", "6"]);
    },
    "expect the last sequence, as the operations before have left it": async (context) => {
      const [log, another] = [await createdLog(context), await createdLog(context)];
      const event = (logId: string, expectedSequence: bigint) => ({
        append: { logId, payloads: [Buffer.from(String(expectedSequence))], expectedSequence },
      });
      await committed(context, [event(log.logId, 0n), event(another.logId, 0n), event(log.logId, 1n)]);
      expect(await textsOf(context, log.logId)).to.deep.equal(["0", "1"]);
      const late = { success: [event(another.logId, 1n), event(log.logId, 1n)] };
      const details = await refusesTransaction(context, late, "SEQUENCE_CONFLICT", "success[1]");
      expect(details.get("last_sequence")).to.equal("2");
      expect(await textsOf(context, another.logId)).to.deep.equal(["0"]);
    },
  },
};

const releases: Table = {
  name: "Transact: releases",
  entries: {
    "end the hold after the last operation, and the next one in line has the lock": async (context) => {
      const { namespace } = context;
      const lock = await context.lock();
      const { fencingToken } = await context.ask(acquireLock, lock);
      const waiting = await context.queue(context.elsewhere, { ...lock, owner: "next" }, 0);
      const guard = { lockName: lock.name, fencingToken, rw: false };
      const key = context.name();
      const release = { release: { lockName: lock.name, fencingToken } };
      const isHeld = { transaction: { compare: [{ hold: guard }] } };
      const answer = await committed(context, [release, isHeld, { put: { key } }], { guard });
      expect(answer.results[0]?.release).to.deep.equal({});
      expect(answer.results[1]?.transaction?.succeeded, "the hold, until the end").to.equal(true);
      const granted = await waiting.granted();
      expect([granted.acquired, granted.fencingToken > fencingToken]).to.deep.equal([true, true]);
      expect((await context.ask(describeLock, lock)).holder?.fencingToken).to.equal(granted.fencingToken);
      await refusesTransaction(context, { success: [{ put: { key } }], guard }, "FENCED");
      const written = await context.askElsewhere(getKey, { namespace, key });
      expect([written.modRevision, written.version]).to.deep.equal([answer.revision, 1n]);
    },
    "end each hold of a read-write lock, and another of the same name stays": async (context) => {
      const lock = await context.readWriteLock();
      const first = await context.ask(acquireRWLock, { ...lock, mode: RWMode.READ });
      const second = await context.askElsewhere(acquireRWLock, { ...lock, mode: RWMode.READ, owner: "another" });
      const release = ({ fencingToken }: { readonly fencingToken: bigint }) => ({
        release: { lockName: lock.name, fencingToken, rw: true },
      });
      await committed(context, [release(first)]);
      const { holders } = await context.ask(describeRWLock, lock);
      expect(holders.map(({ fencingToken }) => fencingToken)).to.deep.equal([second.fencingToken]);
      const twice = { success: [release(second), release(second)] };
      await refusesTransaction(context, twice, "NOT_LOCK_HOLDER", "success[1]");
      await committed(context, [release(second)]);
      expect((await context.askElsewhere(describeRWLock, lock)).holders).to.deep.equal([]);
    },
    "of a refused transaction do not happen": async (context) => {
      const lock = await context.lock();
      const { fencingToken } = await context.ask(acquireLock, lock);
      const release = { release: { lockName: lock.name, fencingToken } };
      const absent = { delete: { key: context.name() } };
      await refusesTransaction(context, { success: [release, absent] }, "KEY_NOT_FOUND", "success[1]");
      expect((await context.askElsewhere(describeLock, lock)).holder?.fencingToken).to.equal(fencingToken);
    },
  },
};

export const transactions: readonly Table[] = [keys, nested, memory, logs, releases];
