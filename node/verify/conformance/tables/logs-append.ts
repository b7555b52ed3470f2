/** Appending: single events and batches, keys and expected sequences, delimiters, limits, and malformed appends. */

import { expect } from "chai";
import {
  append,
  appendBatch,
  expectHttpRefusal,
  type HttpAnswer,
  type HttpRequest,
  newLogPath,
  payloadsOf,
  readEvents,
  sequenceOf,
  sequencesOf,
  type Table,
  type TestContext,
  until,
} from "../harness/index.ts";

const MIB = 1024 * 1024;
const BATCH_BYTES_MAX = 10 * MIB;
const EVENTS_MAX = 1_000_000;
const KEY_MAX = 1_024;
const BASE_MAX = KEY_MAX - ":0".length;
const NUMBERS_REFUSED = ["-1", "1e3", "+1", "01", "0x1", "1.0", "9223372036854775808", "x", "", "1,1"];

const key = (name: string) => ({ "Idempotency-Key": name });
const expected = (sequence: number | string) => ({ "Expected-Sequence": String(sequence) });

function isReplayed({ headers }: HttpAnswer): boolean {
  expect(headers["idempotent-replayed"]).to.be.oneOf([undefined, "true"]);
  return headers["idempotent-replayed"] === "true";
}

function expectConflict(answer: HttpAnswer, lastSequence: number): void {
  expectHttpRefusal(answer, "sequence_conflict");
  expect(answer.headers["last-sequence"]).to.equal(String(lastSequence));
}

/** Requires that nothing was ever appended. */
async function expectEmpty(context: TestContext, path: string): Promise<void> {
  expect(await readEvents(context.httpElsewhere(), path)).to.deep.equal({ events: [], last_sequence: 0 });
}

const single: Table = {
  name: "POST /logs/{log_id}/append",
  entries: {
    "stores events as they are, in the order of sequences from 1": async (context) => {
      const path = await newLogPath(context);
      const payloads = ["", "a", "\n", Buffer.from([0, 0xff, 0x80, 0x0d]).toString("latin1"), '{"a":"<b>"}'];
      for (const [at, payload] of payloads.entries()) {
        const http = at % 2 === 0 ? context.http() : context.httpElsewhere();
        const answer = await append(http, path, Buffer.from(payload, "latin1"));
        expect([sequenceOf(answer), isReplayed(answer)]).to.deep.equal([at + 1, false]);
      }
      expect(await payloadsOf(context.httpElsewhere(), path)).to.deep.equal(payloads);
    },
    "takes 1 MiB and not a byte more, with or without a length": async (context) => {
      const path = await newLogPath(context);
      const largest = Buffer.alloc(MIB, 0x61);
      expect(sequenceOf(await append(context.http(), path, largest))).to.equal(1);
      expect(sequenceOf(await append(context.http(), path, [largest.subarray(1), largest.subarray(0, 1)]))).to.equal(2);
      const more = Buffer.alloc(MIB + 1);
      for (const body of [more, [more.subarray(1), more.subarray(0, 1)]]) {
        expectHttpRefusal(await append(context.http(), path, body), "payload_too_large");
      }
      const page = await readEvents(context.httpElsewhere(), path, "?from_sequence=2");
      expect([page.last_sequence, page.events.map(({ payload }) => payload.length)]).to.deep.equal([
        2,
        [largest.toString("base64").length],
      ]);
    },
    "S5, S7: answers a known key with its sequence, at any member, whatever the payload": async (context) => {
      const path = await newLogPath(context);
      const name = context.name();
      expect(sequenceOf(await append(context.http(), path, "first", key(name)))).to.equal(1);
      expect(sequenceOf(await append(context.http(), path, "other", key(`${name}x`)))).to.equal(2);
      for (const [http, payload] of [
        [context.http(), "first"],
        [context.httpElsewhere(), "first"],
        [context.httpElsewhere(), "another payload"],
      ] as const) {
        const answer = await append(http, path, payload, key(name));
        expect([sequenceOf(answer), isReplayed(answer)]).to.deep.equal([1, true]);
      }
      expect(await payloadsOf(context.httpElsewhere(), path)).to.deep.equal(["first", "other"]);
      const other = await newLogPath(context);
      expect(sequenceOf(await append(context.http(), other, "x", key(name))), "keys are of one log").to.equal(1);
    },
    "S5: stores one of many that come at once with one key": async (context) => {
      const path = await newLogPath(context);
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          append(at % 2 === 0 ? context.http() : context.httpElsewhere(), path, `${at}`, key("k")),
        ),
      );
      expect(answers.map(sequenceOf)).to.deep.equal(Array.from({ length: 10 }, () => 1));
      expect(answers.filter((answer) => !isReplayed(answer))).to.have.length(1);
      expect(await payloadsOf(context.http(), path)).to.have.length(1);
    },
    "S1: looks for the key before it compares sequences": async (context) => {
      const path = await newLogPath(context);
      const once = { ...key("k"), ...expected(0) };
      expect(sequenceOf(await append(context.http(), path, "a", once))).to.equal(1);
      const again = await append(context.httpElsewhere(), path, "a", once);
      expect([sequenceOf(again), isReplayed(again)]).to.deep.equal([1, true]);
      expectConflict(await append(context.http(), path, "b", { ...key("other"), ...expected(0) }), 1);
    },
    "S2: keeps no key of what it refused": async (context) => {
      const path = await newLogPath(context);
      expectConflict(await append(context.http(), path, "a", { ...key("k"), ...expected(7) }), 0);
      const answer = await append(context.httpElsewhere(), path, "b", { ...key("k"), ...expected(0) });
      expect([sequenceOf(answer), isReplayed(answer)]).to.deep.equal([1, false]);
      expect(await payloadsOf(context.http(), path)).to.deep.equal(["b"]);
    },
    "S9: compares expected sequences exactly, up to 2^63 - 1": async (context) => {
      const path = await newLogPath(context);
      for (const sequence of ["1", "9007199254740992", "9007199254740993", "9223372036854775807"]) {
        expectConflict(await append(context.http(), path, "a", expected(sequence)), 0);
      }
      await expectEmpty(context, path);
      expect(sequenceOf(await append(context.http(), path, "a", expected(0)))).to.equal(1);
      expectConflict(await append(context.httpElsewhere(), path, "b", expected(0)), 1);
      expect(sequenceOf(await append(context.httpElsewhere(), path, "b", expected(1)))).to.equal(2);
    },
    "lets one of many win that expect the same": async (context) => {
      const path = await newLogPath(context);
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          append(at % 2 === 0 ? context.http() : context.httpElsewhere(), path, `${at}`, expected(0)),
        ),
      );
      expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([
        200,
        ...Array.from({ length: 9 }, () => 409),
      ]);
    },
    "refuses headers that are not as they must be, by name": async (context) => {
      const path = await newLogPath(context);
      const guard = `${context.namespace}/l;token=`;
      const refused: readonly (readonly [string, readonly (string | readonly string[])[]])[] = [
        ["Expected-Sequence", [...NUMBERS_REFUSED, ["0", "0"], ["0", "1"]]],
        ["Idempotency-Key", ["", " ", "a\tb", "\xe9", "\xc2\x85", "x".repeat(KEY_MAX + 1), ["a", "a"]]],
        [
          "Lock-Guard",
          [
            "",
            "x",
            `${guard}0`,
            `${guard}-1`,
            `${guard}1e3`,
            `${guard}9223372036854775808`,
            [`${guard}1`, `${guard}1`],
          ],
        ],
        [
          "Lock-Guard",
          [`${guard}1;ro`, `${context.namespace}/%;token=1`, `${context.namespace}/%FF;token=1`, "/l;token=1"],
        ],
      ];
      for (const [name, values] of refused) {
        for (const value of values) {
          const answer = await append(context.http(), path, "a", { [name]: value });
          expect(expectHttpRefusal(answer, "invalid_header"), String(value)).to.include(name);
        }
      }
      await expectEmpty(context, path);
    },
    "takes every character but controls in a key, 1,024 bytes of UTF-8, and trims nothing inside": async (context) => {
      const path = await newLogPath(context);
      const all = Array.from({ length: 0x7e - 0x20 + 1 }, (_, at) => String.fromCharCode(0x20 + at)).join("");
      const names = [`x${all}`, "__proto__", "x".repeat(KEY_MAX), "a b", "a  b", "grüße 鍵", "é".repeat(KEY_MAX / 2)];
      for (const [at, name] of names.entries()) {
        // Headers are bytes; HTTP libraries represent each byte as one character.
        const bytes = Buffer.from(name).toString("latin1");
        expect(sequenceOf(await append(context.http(), path, "a", key(bytes)))).to.equal(at + 1);
        expect(sequenceOf(await append(context.httpElsewhere(), path, "a", key(bytes)))).to.equal(at + 1);
      }
      const { events } = await readEvents(context.http(), path);
      expect(events.map(({ idempotency_key: name }) => name)).to.deep.equal(names);
    },
    "S4: forgets a key when its window has passed, and remembers none without a window": async (context) => {
      const path = await newLogPath(context, { settings: { "queue.duplicate_window_secs": 1 } });
      expect(sequenceOf(await append(context.http(), path, "a", key("k")))).to.equal(1);
      await until("the key to be forgotten", async () => {
        return sequenceOf(await append(context.httpElsewhere(), path, "a", key("k"))) === 2;
      });
      const none = await newLogPath(context, { settings: { "queue.duplicate_window_secs": 0 } });
      expect(sequenceOf(await append(context.http(), none, "a", key("k")))).to.equal(1);
      expect(sequenceOf(await append(context.http(), none, "a", key("k")))).to.equal(2);
    },
  },
};

const batches: Table = {
  name: "POST /logs/{log_id}/append_batch",
  entries: {
    "stores all events in their order, under keys of their own": async (context) => {
      const path = await newLogPath(context);
      expect(sequencesOf(await appendBatch(context.http(), path, "a\nb\nc\n", key("k")))).to.deep.equal([1, 2, 3]);
      const { events } = await readEvents(context.httpElsewhere(), path);
      const told = events.map(({ payload, idempotency_key: name }) => [
        Buffer.from(payload, "base64").toString(),
        name,
      ]);
      expect(told).to.deep.equal([
        ["a", "k:0"],
        ["b", "k:1"],
        ["c", "k:2"],
      ]);
    },
    "S8: splits at bytes, wherever they are": async (context) => {
      const splits: readonly (readonly [string, string, readonly string[]])[] = [
        ["a\nb\n", "%0A", ["a", "b"]],
        ["a\nb\n\n", "%0a", ["a", "b", ""]],
        ["\n", "%0A", [""]],
        ["\na", "%0A", ["", "a"]],
        ["a", "%0A", ["a"]],
        ["aXYbXYc", "XY", ["a", "b", "c"]],
        ["aXXXb", "XX", ["a", "Xb"]],
        ["a\xffb", "%FF", ["a", "b"]],
        ["a\0b", "%00", ["a", "b"]],
        ["\xc3\xa9", "%A9", ["\xc3"]],
        ["a+b c", "+", ["a+b", "c"]],
        ["a+b c", "%2B", ["a", "b c"]],
        ["a&b=c", "%26", ["a", "b=c"]],
        [`a${"\xff".repeat(64)}b`, "%FF".repeat(64), ["a", "b"]],
      ];
      for (const [body, delimiter, payloads] of splits) {
        const path = await newLogPath(context);
        const bytes = Buffer.from(body, "latin1");
        // Chunks that end within a delimiter make no difference.
        const chunks = Array.from({ length: bytes.length }, (_, at) => bytes.subarray(at, at + 1));
        const sent = bytes.length > 10 ? bytes : chunks;
        sequencesOf(await appendBatch(context.http(), path, sent, key("k"), delimiter));
        expect(await payloadsOf(context.httpElsewhere(), path), body).to.deep.equal(payloads);
      }
    },
    "refuses delimiters that are none": async (context) => {
      const path = await newLogPath(context);
      const queries = [
        "",
        "?delimiter",
        "?delimiter=",
        "?Delimiter=x",
        "?delimiter=%",
        "?delimiter=%4",
        "?delimiter=%4g",
      ];
      const longer = [`?delimiter=${"x".repeat(65)}`, `?delimiter=${"%FF".repeat(65)}`];
      for (const query of [...queries, ...longer, "?delimiter=x&delimiter=x", "?delimiter=x&%64elimiter=y"]) {
        const request = { body: "a", headers: key("k") };
        const answer = await context.http().call("POST", `${path}/append_batch${query}`, request);
        expectHttpRefusal(answer, "invalid_delimiter");
      }
      await expectEmpty(context, path);
    },
    "needs a key, of at most 1,024 bytes with the position of each event": async (context) => {
      const path = await newLogPath(context);
      expectHttpRefusal(await appendBatch(context.http(), path, "a", {}), "missing_header");
      for (const value of ["", "a\tb", "x".repeat(BASE_MAX + 1), ["a", "a"]]) {
        const answer = await appendBatch(context.http(), path, "a", { "Idempotency-Key": value });
        expect(expectHttpRefusal(answer, "invalid_header")).to.include("Idempotency-Key");
      }
      for (const value of [...NUMBERS_REFUSED, ["0", "0"]]) {
        const answer = await appendBatch(context.http(), path, "a", { ...key("k"), "Expected-Sequence": value });
        expect(expectHttpRefusal(answer, "invalid_header")).to.include("Expected-Sequence");
      }
      const eleven = await appendBatch(context.http(), path, "a\n".repeat(11), key("x".repeat(BASE_MAX)));
      expect(expectHttpRefusal(eleven, "invalid_header")).to.include("Idempotency-Key").and.to.include("1021 bytes");
      expect(sequencesOf(await appendBatch(context.http(), path, "a", key("x".repeat(BASE_MAX))))).to.deep.equal([1]);
    },
    "refuses what holds no event, with or without a length": async (context) => {
      const path = await newLogPath(context);
      for (const body of ["", []]) {
        expectHttpRefusal(await appendBatch(context.http(), path, body, key("k")), "empty_body");
      }
      await expectEmpty(context, path);
    },
    "S6: answers what is known with its sequence, and stores the rest": async (context) => {
      const path = await newLogPath(context);
      expect(sequencesOf(await appendBatch(context.http(), path, "a\nb", key("k")))).to.deep.equal([1, 2]);
      expect(sequenceOf(await append(context.http(), path, "c", key("k:3")))).to.equal(3);
      const answer = await appendBatch(context.httpElsewhere(), path, "A\nB\nC\nD\nE", key("k"));
      expect(sequencesOf(answer)).to.deep.equal([1, 2, 4, 3, 5]);
      expect(isReplayed(answer)).to.equal(false);
      expect(await payloadsOf(context.http(), path)).to.deep.equal(["a", "b", "c", "C", "E"]);
      const again = await appendBatch(context.http(), path, "A\nB\nC\nD\nE", key("k"));
      expect([sequencesOf(again), isReplayed(again)]).to.deep.equal([[1, 2, 4, 3, 5], true]);
      expect(sequenceOf(await append(context.http(), path, "c", key("k:1")))).to.equal(2);
    },
    "compares the expected sequence before its first event, unless all are known": async (context) => {
      const path = await newLogPath(context);
      const first = { ...key("k"), ...expected(0) };
      expect(sequencesOf(await appendBatch(context.http(), path, "a\nb", first))).to.deep.equal([1, 2]);
      const again = await appendBatch(context.httpElsewhere(), path, "a\nb", first);
      expect([sequencesOf(again), isReplayed(again)]).to.deep.equal([[1, 2], true]);
      expectConflict(await appendBatch(context.http(), path, "a\nb\nc", first), 2);
      expectConflict(await appendBatch(context.http(), path, "a", { ...key("l"), ...expected(1) }), 2);
      const third = await appendBatch(context.httpElsewhere(), path, "a\nb\nc", { ...key("k"), ...expected(2) });
      expect(sequencesOf(third)).to.deep.equal([1, 2, 3]);
      expect(await payloadsOf(context.http(), path)).to.deep.equal(["a", "b", "c"]);
    },
    "stores all or nothing of what is cut off": async (context) => {
      const path = await newLogPath(context);
      const cut: HttpRequest = { headers: { ...key("k"), "Content-Length": "100" }, body: [Buffer.from("a\nb\n")] };
      await context.http().abandoned("POST", `${path}/append_batch?delimiter=%0A`, cut);
      expect(sequenceOf(await append(context.http(), path, "c"))).to.equal(1);
      expect(await payloadsOf(context.httpElsewhere(), path)).to.deep.equal(["c"]);
    },
  },
};

/**
 * Batches that keep the members of a small machine busy for a second. They run alone: a member that lags for longer ends
 * the streams of the other entries.
 */
const large: Table = {
  name: "POST /logs/{log_id}/append_batch with as much as it takes",
  alone: true,
  entries: {
    "takes 1,000,000 events and not one more": async (context) => {
      const path = await newLogPath(context);
      const many = await appendBatch(context.http(), path, "\n".repeat(EVENTS_MAX + 1), key("k"));
      expectHttpRefusal(many, "too_many_events");
      await expectEmpty(context, path);
      const sequences = sequencesOf(await appendBatch(context.http(), path, "\n".repeat(EVENTS_MAX), key("k")));
      expect(sequences).to.have.length(EVENTS_MAX);
      expect(sequences.findIndex((sequence, at) => sequence !== at + 1)).to.equal(-1);
      const { events, last_sequence: last } = await readEvents(context.httpElsewhere(), path, "?from_sequence=999990");
      expect([events.length, last, events[0]?.idempotency_key]).to.deep.equal([11, EVENTS_MAX, "k:999989"]);
    },
    "S6: answers a large batch that is stored in part with its old sequences, and stores the rest": async (context) => {
      const path = await newLogPath(context);
      const half = EVENTS_MAX / 2;
      await appendBatch(context.http(), path, "\n".repeat(half), key("k"));
      for (const http of [context.httpElsewhere(), context.http()]) {
        const sequences = sequencesOf(await appendBatch(http, path, "\n".repeat(EVENTS_MAX), key("k")));
        expect([sequences.length, sequences[0], sequences.at(-1)]).to.deep.equal([EVENTS_MAX, 1, EVENTS_MAX]);
        expect(sequences.findIndex((sequence, at) => sequence !== at + 1)).to.equal(-1);
      }
    },
    "takes 10 MiB of events, or of one, and not a byte more": async (context) => {
      const path = await newLogPath(context);
      const full = Buffer.alloc(BATCH_BYTES_MAX, 0x61);
      for (let at = MIB - 1; at < full.length; at += MIB) {
        full[at] = 0x0a;
      }
      const over = Buffer.concat([full, Buffer.from("a")]);
      for (const body of [over, [over.subarray(MIB), over.subarray(0, MIB)]]) {
        expectHttpRefusal(await appendBatch(context.http(), path, body, key("k")), "payload_too_large");
      }
      await expectEmpty(context, path);
      expect(sequencesOf(await appendBatch(context.http(), path, full, key("k")))).to.have.length(10);
      const one = Buffer.alloc(BATCH_BYTES_MAX, 0x62);
      for (const http of [context.http(), context.httpElsewhere()]) {
        expect(sequencesOf(await appendBatch(http, path, [one], key("l")))).to.deep.equal([11]);
      }
      const { events } = await readEvents(context.httpElsewhere(), path, "?from_sequence=11");
      expect(events.map(({ payload }) => one.equals(Buffer.from(payload, "base64")))).to.deep.equal([true]);
    },
  },
};

export const logsAppend: readonly Table[] = [single, batches, large];
