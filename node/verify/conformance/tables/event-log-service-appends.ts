/** EventLogService: single events and batches, their keys, expected sequences, guards and limits. */

import { randomUUID } from "node:crypto";
import { type AppendEventsResponse, RWMode } from "@quoin/proto";
import { expect } from "chai";
import {
  acquireLock,
  acquireRWLock,
  append,
  appendBatch,
  appendEvent,
  appendEvents,
  areSameBytes,
  bytesOf,
  createdLog,
  expectFields,
  isPositive,
  readEventPage,
  releaseLock,
  replayed,
  sequenceOf,
  sequencesOf,
  type Table,
  type TestContext,
  until,
} from "../harness/index.ts";

const MIB = 1024 * 1024;
const KEY_BYTES_MAX = 1_024;
const LOCK_NAME_BYTES_MAX = 256;
const REQUEST_BYTES_MAX = 4 * MIB;
const SAFE_MAX = 2n ** 53n - 1n;
/** So many events that alternate between old and new ones have an answer of more than 4 KiB. */
const ALTERNATING = 600;
const ABSENT_ID = "00000000-0000-4000-8000-000000000000";

const payloadsFrom = (texts: readonly string[]): Uint8Array[] => texts.map((text) => Buffer.from(text));

/** The sequences of all events of a batch, in its order. */
function sequencesIn(appended: AppendEventsResponse | undefined): readonly bigint[] {
  return (appended?.runs ?? []).flatMap(({ firstSequence, count }) =>
    Array.from({ length: Number(count) }, (_, at) => firstSequence + BigInt(at)),
  );
}

async function newId(context: TestContext): Promise<string> {
  return (await createdLog(context)).logId;
}

/** The payloads of the log, read at the other member. */
async function textsOf(context: TestContext, logId: string): Promise<readonly string[]> {
  const { events } = await context.askElsewhere(readEventPage, { logId, pageSize: 1_000 });
  return events.map(({ payload }) => String(payload));
}

/** Requires SEQUENCE_CONFLICT with this last sequence. */
async function expectConflict(
  answer: Promise<{ details: { metadata: ReadonlyMap<string, string> } | undefined }>,
  last: number,
) {
  expect((await answer).details?.metadata.get("last_sequence")).to.equal(String(last));
}

const single: Table = {
  name: "AppendEvent",
  entries: {
    "stores events as they are, in the order of sequences from 1": async (context) => {
      const logId = await newId(context);
      const payloads = [Buffer.alloc(0), Buffer.from([0, 0xff, 0x80, 0x0d]), Buffer.from("text")];
      for (const [at, payload] of payloads.entries()) {
        const ask = at % 2 === 0 ? context.ask.bind(context) : context.askElsewhere.bind(context);
        const appended = await ask(appendEvent, { logId, payload });
        expectFields(appended, { sequence: BigInt(at + 1), revision: isPositive });
      }
      const { events } = await context.askElsewhere(readEventPage, { logId });
      expect(events.map(({ payload }) => Buffer.from(payload))).to.deep.equal(payloads);
    },
    "takes 1 MiB and not a byte more": async (context) => {
      const logId = await newId(context);
      const payload = Buffer.alloc(MIB, "0123456789abcdef-");
      await context.ask(appendEvent, { logId, payload });
      const more = { logId, payload: Buffer.alloc(MIB + 1) };
      await context.refuses(appendEvent, more, "TOO_LARGE", { field: "payload", limit: MIB });
      const { events } = await context.askElsewhere(readEventPage, { logId });
      expect(events.map((event) => areSameBytes(event.payload, payload))).to.deep.equal([true]);
    },
    "S5, S7: stores an event of a key once, whatever its payload and the interface": async (context) => {
      const logId = await newId(context);
      const path = `/logs/${logId}`;
      const http = { "Idempotency-Key": "by http" };
      const call = { logId, idempotencyKey: "by call" };
      expect(sequenceOf(await append(context.http(), path, "1", http))).to.equal(1);
      expect((await context.ask(appendEvent, { ...call, payload: Buffer.from("2") })).sequence).to.equal(2n);
      const again = { logId, payload: Buffer.from("other"), idempotencyKey: "by http" };
      for (const connection of [context.here, context.elsewhere]) {
        const { code, response } = await connection.call(appendEvent, again);
        expect([code, response?.sequence]).to.deep.equal(["OK", 1n]);
        const { response: own } = await connection.call(appendEvent, { ...call, payload: Buffer.from("other") });
        expect(own?.sequence).to.equal(2n);
      }
      const repeated = await append(context.httpElsewhere(), path, "other", { "Idempotency-Key": "by call" });
      expect([sequenceOf(repeated), repeated.headers["idempotent-replayed"]]).to.deep.equal([2, "true"]);
      expect(await textsOf(context, logId)).to.deep.equal(["1", "2"]);
      const another = await newId(context);
      expect((await context.ask(appendEvent, { logId: another, idempotencyKey: "by http" })).sequence).to.equal(1n);
    },
    "S4: forgets a key when its window has passed, and remembers none without a window": async (context) => {
      const window = (seconds: bigint) => ({ settings: new Map([["queue.duplicate_window_secs", seconds]]) });
      const { logId } = await createdLog(context, window(1n));
      const fields = { logId, idempotencyKey: "k" };
      expect((await context.ask(appendEvent, fields)).sequence).to.equal(1n);
      await until(
        "the key to be forgotten",
        async () => (await context.askElsewhere(appendEvent, fields)).sequence === 2n,
      );
      const none = { ...fields, logId: (await createdLog(context, window(0n))).logId };
      expect((await context.ask(appendEvent, none)).sequence).to.equal(1n);
      expect((await context.askElsewhere(appendEvent, none)).sequence).to.equal(2n);
    },
    "takes keys of 1,024 bytes, and shows them with their events": async (context) => {
      const logId = await newId(context);
      const keys = ["x", " a  b ", "grüße 鍵 \u{1F600}", "__proto__", "é".repeat(KEY_BYTES_MAX / 2)];
      for (const idempotencyKey of [...keys, ...keys]) {
        await context.ask(appendEvent, { logId, idempotencyKey });
      }
      const { events } = await context.askElsewhere(readEventPage, { logId });
      expect(events.map(({ idempotencyKey }) => idempotencyKey)).to.deep.equal(keys);
      const longer = { logId, idempotencyKey: "x".repeat(KEY_BYTES_MAX + 1) };
      await context.refuses(appendEvent, longer, "BAD_FIELD", { field: "idempotency_key" });
    },
    "appends only behind the sequence that is expected, unless the event is stored": async (context) => {
      const logId = await newId(context);
      const negative = { logId, expectedSequence: -1n };
      await context.refuses(appendEvent, negative, "BAD_FIELD", { field: "expected_sequence" });
      const batch = { ...negative, payloads: payloadsFrom(["a"]), idempotencyKey: "n" };
      await context.refuses(appendEvents, batch, "BAD_FIELD", { field: "expected_sequence" });
      for (const expectedSequence of [1n, SAFE_MAX]) {
        await expectConflict(context.refuses(appendEvent, { logId, expectedSequence }, "SEQUENCE_CONFLICT"), 0);
      }
      const first = { logId, payload: Buffer.from("1"), idempotencyKey: "k", expectedSequence: 0n };
      expect((await context.ask(appendEvent, first)).sequence).to.equal(1n);
      expect((await context.askElsewhere(appendEvent, first)).sequence).to.equal(1n);
      const other = { logId, payload: Buffer.from("2"), idempotencyKey: "l", expectedSequence: 0n };
      await expectConflict(context.refuses(appendEvent, other, "SEQUENCE_CONFLICT"), 1);
      const second = await context.askElsewhere(appendEvent, { ...other, expectedSequence: 1n });
      expect(second.sequence).to.equal(2n);
      expect(await textsOf(context, logId)).to.deep.equal(["1", "2"]);
    },
    "lets one of many win that expect the same": async (context) => {
      const logId = await newId(context);
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          (at % 2 === 0 ? context.here : context.elsewhere).call(appendEvent, {
            logId,
            payload: Buffer.from(`${at}`),
            expectedSequence: 0n,
          }),
        ),
      );
      expect(answers.filter(({ code }) => code === "OK")).to.have.length(1);
      expect(answers.filter(({ details }) => details?.reason === "SEQUENCE_CONFLICT")).to.have.length(9);
    },
  },
};

const batches: Table = {
  name: "AppendEvents",
  entries: {
    "stores all events in their order, under keys of their own": async (context) => {
      const logId = await newId(context);
      const fields = { logId, payloads: payloadsFrom(["a", "", "c"]), idempotencyKey: "k" };
      const appended = await context.ask(appendEvents, fields);
      expectFields(appended, {
        runs: [{ firstSequence: 1n, count: 3n }],
        lastSequence: 3n,
        runsOmitted: false,
        revision: isPositive,
      });
      const { events } = await context.askElsewhere(readEventPage, { logId });
      expect(events.map(({ payload, idempotencyKey }) => [String(payload), idempotencyKey])).to.deep.equal([
        ["a", "k:0"],
        ["", "k:1"],
        ["c", "k:2"],
      ]);
    },
    "S6: answers what is known with its sequence, and stores the rest": async (context) => {
      const logId = await newId(context);
      const fields = { logId, idempotencyKey: "k" };
      await context.ask(appendEvents, { ...fields, payloads: payloadsFrom(["a", "b"]) });
      await context.ask(appendEvent, { logId, payload: Buffer.from("c"), idempotencyKey: "k:3" });
      for (const connection of [context.elsewhere, context.here]) {
        const payloads = payloadsFrom(["A", "B", "C", "D", "E"]);
        const { response } = await connection.call(appendEvents, { ...fields, payloads });
        expect(sequencesIn(response)).to.deep.equal([1n, 2n, 4n, 3n, 5n]);
        expect([response?.lastSequence, response?.runsOmitted]).to.deep.equal([5n, false]);
      }
      expect(await textsOf(context, logId)).to.deep.equal(["a", "b", "c", "C", "E"]);
      const partial = await context.ask(appendEvents, { ...fields, payloads: payloadsFrom(["a"]) });
      expect([sequencesIn(partial), partial.lastSequence]).to.deep.equal([[1n], 1n]);
    },
    "knows the events of a batch from the other interface": async (context) => {
      const logId = await newId(context);
      const path = `/logs/${logId}`;
      sequencesOf(await appendBatch(context.http(), path, "a\nb", { "Idempotency-Key": "http" }));
      const call = { logId, payloads: payloadsFrom(["c", "d"]), idempotencyKey: "call" };
      await context.ask(appendEvents, call);
      const known = await context.askElsewhere(appendEvents, { ...call, idempotencyKey: "http" });
      expect([sequencesIn(known), known.lastSequence]).to.deep.equal([[1n, 2n], 2n]);
      const again = await appendBatch(context.httpElsewhere(), path, "c\nd\ne", { "Idempotency-Key": "call" });
      expect(sequencesOf(again)).to.deep.equal([3, 4, 5]);
      const one = await context.ask(appendEvent, { logId, idempotencyKey: "http:1" });
      expect(one.sequence).to.equal(2n);
      expect(sequenceOf(await append(context.http(), path, "x", { "Idempotency-Key": "call:0" }))).to.equal(3);
      expect(await textsOf(context, logId)).to.deep.equal(["a", "b", "c", "d", "e"]);
    },
    "compares the expected sequence before its first event, unless all are known": async (context) => {
      const logId = await newId(context);
      const first = { logId, payloads: payloadsFrom(["a", "b"]), idempotencyKey: "k", expectedSequence: 0n };
      await expectConflict(context.refuses(appendEvents, { ...first, expectedSequence: 1n }, "SEQUENCE_CONFLICT"), 0);
      await context.ask(appendEvents, first);
      expect((await context.askElsewhere(appendEvents, first)).lastSequence).to.equal(2n);
      const third = { ...first, payloads: payloadsFrom(["a", "b", "c"]) };
      await expectConflict(context.refuses(appendEvents, third, "SEQUENCE_CONFLICT"), 2);
      const stored = await context.ask(appendEvents, { ...third, expectedSequence: 2n });
      expect(sequencesIn(stored)).to.deep.equal([1n, 2n, 3n]);
      expect(await textsOf(context, logId)).to.deep.equal(["a", "b", "c"]);
    },
    "takes 10,000 events and not one more": async (context) => {
      const logId = await newId(context);
      const payloads = Array.from({ length: 10_001 }, () => Buffer.from("a"));
      const more = { logId, payloads, idempotencyKey: "k" };
      const { lastSequence } = await context.ask(appendEvents, { ...more, payloads: payloads.slice(1) });
      expect(lastSequence).to.equal(10_000n);
      await context.refuses(appendEvents, more, "BAD_FIELD", { field: "payloads" });
    },
    "needs events, and a key of at most 1,024 bytes with the position of each event": async (context) => {
      const logId = await newId(context);
      const fields = { logId, payloads: payloadsFrom(["a"]), idempotencyKey: "k" };
      await context.refuses(appendEvents, { ...fields, payloads: [] }, "BAD_FIELD", { field: "payloads" });
      await context.refuses(appendEvents, { ...fields, idempotencyKey: "" }, "BAD_FIELD", { field: "idempotency_key" });
      const base = "x".repeat(KEY_BYTES_MAX - ":0".length);
      const tooLong = { field: "idempotency_key" };
      await context.refuses(appendEvents, { ...fields, idempotencyKey: `${base}x` }, "BAD_FIELD", tooLong);
      const eleven = Array.from({ length: 11 }, () => Buffer.from("a"));
      const longKey = { ...fields, payloads: eleven, idempotencyKey: base };
      await context.refuses(appendEvents, longKey, "BAD_FIELD", tooLong);
      expect((await context.ask(appendEvents, { ...fields, idempotencyKey: base })).lastSequence).to.equal(1n);
    },
    "takes a request of 4 MiB": async (context) => {
      const logId = await newId(context);
      const fields = { logId, payloads: [Buffer.alloc(REQUEST_BYTES_MAX - 100, "a")], idempotencyKey: "k" };
      const missing = REQUEST_BYTES_MAX - bytesOf(appendEvents, fields).length;
      const payloads = [Buffer.alloc(REQUEST_BYTES_MAX - 100 + missing, "a")];
      expect(bytesOf(appendEvents, { ...fields, payloads })).to.have.length(REQUEST_BYTES_MAX);
      expect((await context.ask(appendEvents, { ...fields, payloads })).lastSequence).to.equal(1n);
      const { events } = await context.askElsewhere(readEventPage, { logId });
      expect(events.map(({ payload }) => areSameBytes(payload, payloads[0] as Buffer))).to.deep.equal([true]);
    },
    "leaves out the runs in the answer to a retry if they were more than 4 KiB": async (context) => {
      const logId = await newId(context);
      const old = Array.from({ length: ALTERNATING }, (_, at) => ({ logId, idempotencyKey: `k:${2 * at}` }));
      await Promise.all(old.map((fields) => context.ask(appendEvent, fields)));
      const payloads = Array.from({ length: 2 * ALTERNATING }, () => Buffer.from("b"));
      const fields = { logId, payloads, idempotencyKey: "k" };
      const options = { metadata: { "request-id": randomUUID() } };
      const first = await context.ask(appendEvents, fields, options);
      expect([sequencesIn(first).length, first.runsOmitted]).to.deep.equal([2 * ALTERNATING, false]);
      const again = await context.elsewhere.call(appendEvents, fields, options);
      expect([again.code, again.response]).to.deep.equal(["OK", { ...first, runs: [], runsOmitted: true }]);
      expect(replayed(again)).to.not.equal(undefined);
      const third = await context.elsewhere.call(appendEvents, fields);
      expect([sequencesIn(third.response), third.response?.runsOmitted]).to.deep.equal([sequencesIn(first), false]);
    },
  },
};

const guarding: Table = {
  name: "Guards of appends",
  entries: {
    "let events pass while the hold is live, and then only those that are stored": async (context) => {
      const lock = await context.lock();
      const { fencingToken } = await context.ask(acquireLock, lock);
      const guard = { namespace: lock.namespace, lockName: lock.name, fencingToken, rw: false };
      const logId = (await createdLog(context, { namespace: await context.newNamespace() })).logId;
      const event = { logId, payload: Buffer.from("1"), idempotencyKey: "e", guard };
      const batch = { logId, payloads: payloadsFrom(["2", "3"]), idempotencyKey: "b", guard };
      expect((await context.askElsewhere(appendEvent, event)).sequence).to.equal(1n);
      expect((await context.askElsewhere(appendEvents, batch)).lastSequence).to.equal(3n);
      await context.askElsewhere(releaseLock, { ...lock, fencingToken });
      expect((await context.ask(appendEvent, event)).sequence).to.equal(1n);
      expect((await context.ask(appendEvents, batch)).lastSequence).to.equal(3n);
      await context.refuses(appendEvent, { ...event, idempotencyKey: "" }, "FENCED");
      await context.refuses(appendEvents, { ...batch, payloads: payloadsFrom(["2", "3", "4"]) }, "FENCED");
      const absent = { ...guard, lockName: context.name() };
      await context.refuses(appendEvent, { logId, guard: absent }, "FENCED");
      const next = await context.ask(acquireLock, lock);
      await context.refuses(appendEvent, { logId, guard }, "FENCED");
      await context.ask(appendEvent, { logId, guard: { ...guard, fencingToken: next.fencingToken } });
      expect(await textsOf(context, logId)).to.deep.equal(["1", "2", "3", ""]);
    },
    "of a read-write lock want its WRITE hold": async (context) => {
      const logId = await newId(context);
      const lock = await context.readWriteLock();
      const { fencingToken } = await context.ask(acquireRWLock, { ...lock, mode: RWMode.WRITE });
      const guard = { namespace: lock.namespace, lockName: lock.name, fencingToken, rw: true };
      await context.askElsewhere(appendEvent, { logId, guard });
      await context.refuses(appendEvent, { logId, guard: { ...guard, rw: false } }, "FENCED");
      await context.ask(acquireRWLock, { ...lock, mode: RWMode.READ, fencingToken });
      await context.refuses(appendEvent, { logId, guard }, "FENCED");
    },
    "want the access write in the namespace of the lock, before they look for the log": async (context) => {
      const { admin, adminNamespace } = context.users;
      const connection = context.testRun.at(context.here.endpoint, admin.token);
      const guard = { namespace: context.namespace, lockName: "l", fencingToken: 1n, rw: false };
      const batch = { payloads: payloadsFrom(["a"]), idempotencyKey: "k", guard };
      for (const logId of [ABSENT_ID, await newId(context)]) {
        await context.refuses(appendEvent, { logId, guard }, "NAMESPACE_DENIED", { connection });
        await context.refuses(appendEvents, { ...batch, logId }, "NAMESPACE_DENIED", { connection });
        const own = { ...guard, namespace: adminNamespace };
        await context.refuses(appendEvent, { logId, guard: own }, "LOG_NOT_FOUND", { connection });
      }
    },
    "name their fields when these cannot be": async (context) => {
      const logId = await newId(context);
      const guard = { namespace: context.namespace, lockName: "l", fencingToken: 1n, rw: false };
      const refused = (field: string, wrong: object) =>
        context.refuses(appendEvent, { logId, guard: { ...guard, ...wrong } }, "BAD_FIELD", { field });
      for (const namespace of ["", "A", "a".repeat(64)]) {
        await refused("guard.namespace", { namespace });
      }
      await refused("guard.lock_name", { lockName: "" });
      for (const fencingToken of [0n, -1n]) {
        await refused("guard.fencing_token", { fencingToken });
      }
      const lockName = "l".repeat(LOCK_NAME_BYTES_MAX + 1);
      const limit = { field: "guard.lock_name", limit: LOCK_NAME_BYTES_MAX };
      await context.refuses(appendEvent, { logId, guard: { ...guard, lockName } }, "TOO_LARGE", limit);
    },
  },
};

export const eventLogServiceAppends: readonly Table[] = [single, batches, guarding];
