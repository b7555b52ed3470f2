/** Reading events: pages, waiting for more, following them as they come, and what retention leaves. */

import { expect } from "chai";
import {
  answered,
  append,
  appendBatch,
  EVENT_STREAM,
  type EventBody,
  expectHttpRefusal,
  followEvents,
  newLogPath,
  readEvents,
  sequenceOf,
  sequencesOf,
  type Table,
  type TestContext,
  until,
} from "../harness/index.ts";

const KIB = 1024;
const PAGE_BYTES_MAX = 1024 * KIB;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** A wait that is longer than any step here takes. */
const WAIT = "wait_secs=60";

const numbers = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);
const sequencesIn = ({ events }: { readonly events: readonly EventBody[] }) => events.map(({ sequence }) => sequence);

/** A log with this many events: "1", "2" and so on. */
async function numbered(context: TestContext, count: number): Promise<string> {
  const path = await newLogPath(context);
  sequencesOf(await appendBatch(context.http(), path, numbers(1, count).join("\n"), { "Idempotency-Key": "k" }));
  return path;
}

const reading: Table = {
  name: "GET /logs/{log_id}/events",
  entries: {
    "answers every field of an event": async (context) => {
      const path = await newLogPath(context);
      const payload = Buffer.from([0, 0xff, 0x0a]);
      sequenceOf(await append(context.http(), path, payload, { "Idempotency-Key": "a-key" }));
      sequenceOf(await append(context.http(), path, ""));
      const { events, last_sequence } = await readEvents(context.httpElsewhere(), path);
      expect(last_sequence).to.equal(2);
      const [first, second] = events as [EventBody, EventBody];
      const whole = { sequence: 1, payload: payload.toString("base64"), idempotency_key: "a-key" };
      expect(first).to.deep.equal({ ...whole, timestamp: first.timestamp });
      expect(second).to.deep.equal({ sequence: 2, timestamp: second.timestamp, payload: "", idempotency_key: null });
      expect(first.timestamp).to.match(TIMESTAMP);
      expect(Date.parse(second.timestamp)).to.be.at.least(Date.parse(first.timestamp));
    },
    "reads pages from any sequence": async (context) => {
      const path = await numbered(context, 250);
      expect(sequencesIn(await readEvents(context.http(), path))).to.deep.equal(numbers(1, 100));
      for (const [query, from, to] of [
        ["?from_sequence=0&limit=2", 1, 2],
        ["?from_sequence=101", 101, 200],
        ["?from_sequence=201&limit=1000", 201, 250],
        ["?limit=1", 1, 1],
        ["?from_sequence=250", 250, 250],
        ["?from_sequence=251", 251, 250],
        [`?from_sequence=${Number.MAX_SAFE_INTEGER}`, 251, 250],
      ] as const) {
        const page = await readEvents(context.httpElsewhere(), path, query);
        expect([sequencesIn(page), page.last_sequence], query).to.deep.equal([numbers(from, to), 250]);
      }
    },
    "ends a page at 1 MiB": async (context) => {
      const path = await newLogPath(context);
      const half = Buffer.alloc(PAGE_BYTES_MAX / 2, 0x61);
      for (const payload of [half, half, Buffer.from("x")]) {
        sequenceOf(await append(context.http(), path, payload));
      }
      expect(sequencesIn(await readEvents(context.httpElsewhere(), path))).to.deep.equal([1, 2]);
      expect(sequencesIn(await readEvents(context.http(), path, "?from_sequence=2"))).to.deep.equal([2, 3]);
      const largest = await newLogPath(context);
      for (let count = 0; count < 2; count++) {
        sequenceOf(
          await append(context.http(), largest, Buffer.alloc(PAGE_BYTES_MAX), { "Idempotency-Key": `${count}` }),
        );
      }
      expect(sequencesIn(await readEvents(context.http(), largest)), "one event is a page").to.deep.equal([1]);
    },
    "refuses what is no page, by name": async (context) => {
      const path = await newLogPath(context);
      for (const query of [
        ...["limit=0", "limit=1001", "limit=x", "limit=1&limit=1", "wait_secs=-1", "wait_secs=61", "wait_secs=1.5"],
        ...["from_sequence=-1", "from_sequence=1e3", "from_sequence=9007199254740992", "from_sequence=%FF"],
      ]) {
        for (const headers of [{}, EVENT_STREAM]) {
          const answer = await context.http().call("GET", `${path}/events?${query}`, { headers });
          expect(expectHttpRefusal(answer, "invalid_request")).to.include(query.split("=")[0]);
        }
      }
      for (const value of ["x", "-1", "1e3", "", ["1", "1"]]) {
        const headers = { ...EVENT_STREAM, "Last-Event-ID": value };
        const answer = await context.http().call("GET", `${path}/events`, { headers });
        expect(expectHttpRefusal(answer, "invalid_header")).to.include("Last-Event-ID");
      }
    },
    "waits for events, and answers as soon as there are some": async (context) => {
      const path = await numbered(context, 2);
      expect(sequencesIn(await readEvents(context.http(), path, `?${WAIT}`))).to.deep.equal([1, 2]);
      const waiting = readEvents(context.http(), path, `?from_sequence=3&${WAIT}`);
      sequenceOf(await append(context.httpElsewhere(), path, "3"));
      const page = await waiting;
      expect([sequencesIn(page), page.last_sequence]).to.deep.equal([[3], 3]);
      const none = await readEvents(context.http(), path, "?from_sequence=4&wait_secs=1");
      expect(none).to.deep.equal({ events: [], last_sequence: 3 });
    },
    "ends the wait when the log is deleted": async (context) => {
      const path = await newLogPath(context);
      const waiting = context.http().call("GET", `${path}/events?${WAIT}`);
      answered(await context.httpElsewhere().call("DELETE", path));
      expectHttpRefusal(await waiting, "log_not_found");
    },
    "keeps what retention leaves, and every sequence": async (context) => {
      const path = await newLogPath(context, { settings: { "retention.max_bytes": 3 * KIB } });
      for (let count = 0; count < 10; count++) {
        sequenceOf(await append(context.http(), path, Buffer.alloc(KIB)));
      }
      const log = await until("old events to be removed", async () => {
        const described = answered(await context.httpElsewhere().call("GET", path));
        return Number(described.size_bytes) <= 3 * KIB ? described : null;
      });
      expect([log.last_sequence, log.first_sequence, log.event_count]).to.deep.equal([10, 8, 3]);
      expect(sequencesIn(await readEvents(context.httpElsewhere(), path))).to.deep.equal([8, 9, 10]);
      expect(sequenceOf(await append(context.http(), path, ""))).to.equal(11);
      const aged = await newLogPath(context, { settings: { "retention.max_age_secs": 1 } });
      sequenceOf(await append(context.http(), aged, "old"));
      await until("all events to be removed", async () => {
        return answered(await context.httpElsewhere().call("GET", aged)).event_count === 0;
      });
      expect(await readEvents(context.http(), aged)).to.deep.equal({ events: [], last_sequence: 1 });
      expect(sequenceOf(await append(context.http(), aged, "", { "Expected-Sequence": "1" }))).to.equal(2);
    },
  },
};

const following: Table = {
  name: "GET /logs/{log_id}/events as a stream",
  entries: {
    "sends existing and new events, each as in a page": async (context) => {
      const path = await numbered(context, 3);
      const stream = await followEvents(context, path);
      const { headers, statusCode } = stream.response;
      expect([statusCode, headers["content-type"], headers["cache-control"], headers["api-version"]]).to.deep.equal([
        ...[200, "text/event-stream", "no-store, no-transform", "v1"],
      ]);
      await stream.first(3);
      sequenceOf(await append(context.httpElsewhere(), path, "four"));
      const told = await stream.first(4);
      expect(told.map(({ id }) => id)).to.deep.equal(["1", "2", "3", "4"]);
      const { events } = await readEvents(context.http(), path);
      expect(told.map(({ data }) => JSON.parse(data))).to.deep.equal(events);
    },
    "goes on where it was left, at another member": async (context) => {
      const path = await numbered(context, 5);
      const first = await followEvents(context, path, { query: "?from_sequence=2&limit=1" });
      expect((await first.first(2)).slice(0, 2).map(({ id }) => id)).to.deep.equal(["2", "3"]);
      first.leave();
      const headers = { "Last-Event-ID": "3" };
      const second = await followEvents(context, path, {
        http: context.httpElsewhere(),
        query: "?from_sequence=2",
        headers,
      });
      sequenceOf(await append(context.http(), path, "6"));
      expect((await second.first(3)).map(({ id }) => id)).to.deep.equal(["4", "5", "6"]);
    },
    "waits for a sequence that is still to come": async (context) => {
      const path = await numbered(context, 1);
      const stream = await followEvents(context, path, { headers: { "Last-Event-ID": "2" } });
      sequenceOf(await append(context.http(), path, "2"));
      sequenceOf(await append(context.http(), path, "3"));
      expect((await stream.first(1)).map(({ id }) => id)).to.deep.equal(["3"]);
    },
    "sends many events, in order and each once": async (context) => {
      const path = await newLogPath(context);
      const stream = await followEvents(context, path);
      for (let batch = 0; batch < 5; batch++) {
        const body = `${"x".repeat(100)}\n`.repeat(1000);
        sequencesOf(await appendBatch(context.httpElsewhere(), path, body, { "Idempotency-Key": `${batch}` }));
      }
      const told = await stream.first(5000);
      expect(told.map(({ id }) => Number(id))).to.deep.equal(numbers(1, 5000));
    },
    "ends when the log is deleted": async (context) => {
      const path = await numbered(context, 1);
      const stream = await followEvents(context, path);
      await stream.first(1);
      answered(await context.httpElsewhere().call("DELETE", path));
      await stream.ended();
    },
    "is opened by who wants nothing else, and not by HEAD": async (context) => {
      const path = await numbered(context, 1);
      for (const accept of ["*/*", "application/json, text/event-stream;q=0.5", "image/png"]) {
        answered(await context.http().call("GET", `${path}/events`, { headers: { Accept: accept } }));
      }
      const head = await context.http().call("HEAD", `${path}/events`, { headers: EVENT_STREAM });
      expect([head.status, head.headers["content-type"], head.body.length]).to.deep.equal([
        200,
        "text/event-stream",
        0,
      ]);
    },
  },
};

export const logsEvents: readonly Table[] = [reading, following];
