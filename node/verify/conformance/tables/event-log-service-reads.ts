/** EventLogService: pages of events, waiting for more, and streams that follow a log. */

import {
  type LogEvent,
  ReadConsistency,
  type TailEventsRequest,
  type TailEventsResponse,
  UserRole,
} from "@quoin/proto";
import { expect } from "chai";
import {
  append,
  appendEvent,
  appendEvents,
  type Connection,
  createApiKey,
  createdLog,
  deleteLog,
  exchangeToken,
  expectFields,
  followLog,
  getLog,
  isPositive,
  isUnixMs,
  readEventPage,
  readEvents,
  revokeApiKey,
  type Stream,
  sequenceOf,
  type Table,
  type TestContext,
  until,
  updateUser,
} from "../harness/index.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const PAGE_MAX = 1_000;
const WAIT_SECONDS_MAX = 60n;
/** Longer than a call may take that has no deadline and does not wait. */
const LONG_WAIT_SECONDS = 6n;
const SAFE_MAX = 2n ** 53n - 1n;

const numbers = (from: number, to: number): readonly bigint[] =>
  Array.from({ length: to - from + 1 }, (_, at) => BigInt(from + at));
const sequencesIn = (events: readonly LogEvent[]) => events.map(({ sequence }) => sequence);
const eventsOf = (messages: readonly TailEventsResponse[]) => messages.flatMap(({ events }) => events);

/** The id of a log with this many events: "1", "2" and so on. */
async function numbered(context: TestContext, count: number): Promise<string> {
  const { logId } = await createdLog(context);
  const payloads = numbers(1, count).map((number) => Buffer.from(String(number)));
  await context.ask(appendEvents, { logId, payloads, idempotencyKey: "k" });
  return logId;
}

const reading: Table = {
  name: "ReadEvents",
  entries: {
    "answers every field of an event": async (context) => {
      const { logId } = await createdLog(context);
      const payload = Buffer.from([0, 0xff, 0x0a]);
      await context.ask(appendEvent, { logId, payload, idempotencyKey: "a-key" });
      await context.ask(appendEvent, { logId });
      const page = await context.askElsewhere(readEventPage, { logId });
      expectFields(page, { events: () => true, lastSequence: 2n, revision: isPositive });
      const [first, second] = page.events as [LogEvent, LogEvent];
      expectFields(first, { sequence: 1n, appendedAtMs: isUnixMs, payload, idempotencyKey: "a-key" });
      expectFields(second, { sequence: 2n, appendedAtMs: isUnixMs, payload: Buffer.alloc(0), idempotencyKey: "" });
      expect(second.appendedAtMs >= first.appendedAtMs).to.equal(true);
    },
    "reads pages from any sequence": async (context) => {
      const logId = await numbered(context, 250);
      for (const [fromSequence, pageSize, from, to] of [
        [0n, 0, 1, 100],
        [0n, 2, 1, 2],
        [101n, 0, 101, 200],
        [201n, PAGE_MAX, 201, 250],
        [1n, 1, 1, 1],
        [250n, 5, 250, 250],
        [251n, 5, 251, 250],
        [SAFE_MAX, 5, 251, 250],
      ] as const) {
        const { events, lastSequence } = await context.askElsewhere(readEventPage, { logId, fromSequence, pageSize });
        expect([sequencesIn(events), lastSequence], `${fromSequence}`).to.deep.equal([numbers(from, to), 250n]);
      }
      for (const [field, wrong] of [
        ["page_size", { pageSize: -1 }],
        ["page_size", { pageSize: PAGE_MAX + 1 }],
        ["from_sequence", { fromSequence: -1n }],
        ["wait_seconds", { waitSeconds: -1n }],
        ["wait_seconds", { waitSeconds: WAIT_SECONDS_MAX + 1n }],
      ] as const) {
        await context.refuses(readEventPage, { logId, ...wrong }, "BAD_FIELD", { field });
      }
    },
    "ends a page at about 1 MiB, but not before its first event": async (context) => {
      const { logId } = await createdLog(context);
      for (let count = 0; count < 3; count++) {
        await context.ask(appendEvent, { logId, payload: Buffer.alloc(MIB, "x") });
      }
      for (const fromSequence of [1n, 3n]) {
        const { events, lastSequence } = await context.askElsewhere(readEventPage, { logId, fromSequence });
        expect([sequencesIn(events), lastSequence]).to.deep.equal([[fromSequence], 3n]);
      }
    },
    "begins with the oldest kept event if that is later": async (context) => {
      const { logId } = await createdLog(context, { settings: new Map([["retention.max_bytes", BigInt(3 * KIB)]]) });
      for (let count = 0; count < 10; count++) {
        await context.ask(appendEvent, { logId, payload: Buffer.alloc(KIB) });
      }
      const log = await until("old events to be removed", async () => {
        const { log: described } = await context.askElsewhere(getLog, { logId });
        return (described?.sizeBytes ?? 0n) <= BigInt(3 * KIB) ? described : null;
      });
      expect([log?.lastSequence, log?.firstSequence, log?.eventCount]).to.deep.equal([10n, 8n, 3n]);
      const { events } = await context.askElsewhere(readEventPage, { logId, fromSequence: 2n });
      expect(sequencesIn(events)).to.deep.equal([8n, 9n, 10n]);
    },
    "waits for events, and answers as soon as another member appends some": async (context) => {
      const logId = await numbered(context, 2);
      const fields = { logId, waitSeconds: WAIT_SECONDS_MAX };
      expect(sequencesIn((await context.ask(readEventPage, fields)).events)).to.deep.equal([1n, 2n]);
      const waiting = context.ask(readEventPage, { ...fields, fromSequence: 3n });
      await context.askElsewhere(appendEvent, { logId, payload: Buffer.from("3") });
      const { events, lastSequence } = await waiting;
      expect([sequencesIn(events), lastSequence]).to.deep.equal([[3n], 3n]);
      const byHttp = context.ask(readEventPage, { ...fields, fromSequence: 4n });
      sequenceOf(await append(context.httpElsewhere(), `/logs/${logId}`, "4"));
      expect(sequencesIn((await byHttp).events)).to.deep.equal([4n]);
    },
    "waits as long as it is asked, and then answers without events": async (context) => {
      const logId = await numbered(context, 2);
      const beganMs = performance.now();
      const fields = { logId, fromSequence: 3n, waitSeconds: LONG_WAIT_SECONDS };
      const { events, lastSequence } = await context.ask(readEventPage, fields);
      expect([events, lastSequence]).to.deep.equal([[], 2n]);
      expect(performance.now() - beganMs).to.be.at.least(Number(LONG_WAIT_SECONDS) * 1000 * 0.9);
    },
    "ends the wait when the log is deleted": async (context) => {
      const { logId } = await createdLog(context);
      const waiting = context.here.call(readEventPage, { logId, waitSeconds: WAIT_SECONDS_MAX });
      await context.askElsewhere(deleteLog, { logId });
      await context.expectRefusal(await waiting, "LOG_NOT_FOUND");
    },
    "SERIALIZABLE comes to see what was appended": async (context) => {
      const logId = await numbered(context, 1);
      await context.askElsewhere(appendEvent, { logId });
      await until("the member to have applied it", async () => {
        const fields = { logId, consistency: ReadConsistency.SERIALIZABLE };
        return (await context.here.call(readEventPage, fields)).response?.lastSequence === 2n;
      });
    },
    "answers as GET /logs/{log_id}/events does": async (context) => {
      const logId = await numbered(context, 3);
      sequenceOf(await append(context.http(), `/logs/${logId}`, Buffer.from([0xff]), { "Idempotency-Key": "h" }));
      await context.ask(appendEvent, { logId, payload: Buffer.from("no key") });
      const { events, lastSequence } = await context.ask(readEventPage, { logId });
      expect(await readEvents(context.httpElsewhere(), `/logs/${logId}`)).to.deep.equal({
        events: events.map(({ sequence, appendedAtMs, payload, idempotencyKey }) => ({
          sequence: Number(sequence),
          timestamp: new Date(Number(appendedAtMs)).toISOString(),
          payload: Buffer.from(payload).toString("base64"),
          idempotency_key: idempotencyKey === "" ? null : idempotencyKey,
        })),
        last_sequence: Number(lastSequence),
      });
    },
  },
};

/** Follows the log at the member under test. The stream ends with the entry. */
function tail(
  context: TestContext,
  fields: Partial<TailEventsRequest>,
  connection: Connection = context.here,
): Stream<TailEventsResponse> {
  const stream = followLog(connection, fields);
  context.atEnd(async () => stream.cancel());
  return stream;
}

/** Waits until the stream is active. */
function active(stream: Stream<TailEventsResponse>): Promise<TailEventsResponse> {
  return stream.until("the stream is active", ([first]) => first);
}

/** Waits for this many events of the stream. */
function firstOf(stream: Stream<TailEventsResponse>, count: number): Promise<readonly LogEvent[]> {
  return stream.until(`${count} events`, (messages) => {
    const events = eventsOf(messages);
    return events.length >= count && events;
  });
}

const following: Table = {
  name: "TailEvents",
  entries: {
    "says first that it is active, then delivers existing and new events": async (context) => {
      const logId = await numbered(context, 3);
      const stream = tail(context, { logId });
      expectFields(await active(stream), { events: [], created: true, lastSequence: 3n });
      await firstOf(stream, 3);
      await context.askElsewhere(appendEvent, { logId, payload: Buffer.from("four"), idempotencyKey: "4" });
      sequenceOf(await append(context.httpElsewhere(), `/logs/${logId}`, "five"));
      const delivered = await firstOf(stream, 5);
      expect(delivered).to.deep.equal((await context.ask(readEventPage, { logId })).events);
      for (const { created, events, lastSequence } of stream.messages.slice(1)) {
        expect([created, events.length > 0]).to.deep.equal([false, true]);
        expect(lastSequence >= (events.at(-1)?.sequence ?? 0n)).to.equal(true);
      }
    },
    "resumes behind the last event, at another member": async (context) => {
      const logId = await numbered(context, 5);
      const first = tail(context, { logId, fromSequence: 2n });
      const last = (await firstOf(first, 2)).at(1);
      expect(last?.sequence).to.equal(3n);
      first.cancel();
      expect((await first.ended()).code).to.equal("CANCELLED");
      const second = tail(context, { logId, fromSequence: 4n }, context.elsewhere);
      await context.ask(appendEvent, { logId });
      expect(sequencesIn(await firstOf(second, 3))).to.deep.equal([4n, 5n, 6n]);
    },
    "waits for a sequence that is still to come": async (context) => {
      const logId = await numbered(context, 1);
      const stream = tail(context, { logId, fromSequence: 3n });
      await active(stream);
      await context.ask(appendEvent, { logId });
      await context.ask(appendEvent, { logId });
      expect(sequencesIn(await firstOf(stream, 1))).to.deep.equal([3n]);
    },
    "delivers many events in several messages, in order and each once": async (context) => {
      const { logId } = await createdLog(context);
      const stream = tail(context, { logId });
      await active(stream);
      const payloads = Array.from({ length: 1000 }, () => Buffer.alloc(100, "x"));
      for (let batch = 0; batch < 5; batch++) {
        await context.askElsewhere(appendEvents, { logId, payloads, idempotencyKey: `${batch}` });
      }
      expect(sequencesIn(await firstOf(stream, 5000))).to.deep.equal(numbers(1, 5000));
      expect(stream.messages.length).to.be.at.least(3);
    },
    "ends when the log is deleted": async (context) => {
      const logId = await numbered(context, 1);
      const stream = tail(context, { logId });
      await firstOf(stream, 1);
      await context.askElsewhere(deleteLog, { logId });
      await context.expectRefusal(await stream.ended(), "LOG_NOT_FOUND");
    },
    "ends when its token is revoked or has expired": async (context) => {
      const logId = await numbered(context, 1);
      const { apiKey, key } = await context.ask(createApiKey, { name: context.name() });
      const follow = async (expiresInSeconds: bigint) => {
        const { accessToken } = await context.ask(exchangeToken, { apiKey: key, expiresInSeconds });
        return tail(context, { logId }, context.testRun.at(context.elsewhere.endpoint, accessToken));
      };
      const [short, long] = [await follow(3n), await follow(0n)];
      await Promise.all([firstOf(short, 1), firstOf(long, 1)]);
      await context.expectRefusal(await short.ended(), "TOKEN_EXPIRED");
      await context.ask(revokeApiKey, { apiKeyId: apiKey?.apiKeyId ?? "" });
      await context.expectRefusal(await long.ended(), "TOKEN_REVOKED");
    },
    "ends when its user loses the namespace": async (context) => {
      const logId = await numbered(context, 1);
      const user = await context.newUser("viewer", [context.namespace]);
      const stream = tail(context, { logId }, context.testRun.at(context.here.endpoint, user.token));
      await firstOf(stream, 1);
      await context.askElsewhere(updateUser, {
        userId: user.userId,
        namespaces: { names: [] },
        role: UserRole.VIEWER,
      });
      expect((await stream.ended()).code).to.be.oneOf(["PERMISSION_DENIED", "NOT_FOUND"]);
    },
  },
};

export const eventLogServiceReads: readonly Table[] = [reading, following];
