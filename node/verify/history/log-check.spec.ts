import { expect } from "chai";
import { logCheck } from "./log-check.ts";
import type { AskedEvent, EventLogAnswer, EventLogOperation, EventLogRecord, ReadEvent } from "./log-history.ts";

type Line = readonly [EventLogOperation, number, number, EventLogAnswer | "unknown" | "not-executed"];

function judged(...lines: readonly Line[]): string {
  return judgedAll(lines);
}

function judgedAll(lines: readonly Line[]): string {
  const records = lines.map(([operation, startMs, endMs, result], id): EventLogRecord => {
    const shared = { id, client: `client-${id}`, operation, startMs };
    return typeof result === "string"
      ? { ...shared, endMs: result === "unknown" ? Number.POSITIVE_INFINITY : endMs, outcome: { kind: result } }
      : { ...shared, endMs, outcome: { kind: "ok", answer: result } };
  });
  return logCheck(records).join("\n");
}

const LOG = "l";
/** `k=a` is the payload a with the key k. */
function asked(text: string): AskedEvent {
  const [key, payload] = text.includes("=") ? (text.split("=") as [string, string]) : [null, text];
  return { key, payload };
}
const append = (texts: string, expectedSequence?: string): EventLogOperation => {
  const events = texts.split(" ").map(asked);
  return { kind: "append", log: LOG, events, ...(expectedSequence === undefined ? {} : { expectedSequence }) };
};
const read = (fromSequence = 1): EventLogOperation => ({ kind: "read", log: LOG, fromSequence });
const told = (...sequences: readonly number[]): EventLogAnswer => ({ kind: "appended", sequences, replayed: false });
const again = (...sequences: readonly number[]): EventLogAnswer => ({ kind: "appended", sequences, replayed: true });
const conflict = (lastSequence: number): EventLogAnswer => ({ kind: "conflict", lastSequence });
const shown = (texts: string, from = 1, lastSequence?: number): EventLogAnswer => {
  const events = texts.split(" ").map((text, at): ReadEvent => ({ sequence: from + at, ...asked(text) }));
  return { kind: "events", events, lastSequence: lastSequence ?? from + events.length - 1 };
};
const NOTHING: EventLogAnswer = { kind: "events", events: [], lastSequence: 0 };

/** One event at sequence 1. */
const MADE: Line = [append("k=a"), 0, 10, told(1)];

const HISTORIES: readonly (readonly [rule: string, good: readonly Line[], bad: readonly Line[], said: string])[] = [
  [
    "sequences are dense from 1",
    [MADE, [append("b"), 20, 30, told(2)], [read(), 40, 50, shown("k=a b")]],
    [
      MADE,
      [append("b"), 20, 30, told(3)],
      [
        read(),
        40,
        50,
        {
          kind: "events",
          events: [
            { sequence: 1, ...asked("k=a") },
            { sequence: 3, ...asked("b") },
          ],
          lastSequence: 3,
        },
      ],
    ],
    "sequences are dense",
  ],
  [
    "a sequence is one event to all readers",
    [MADE, [append("b"), 20, 30, "unknown"], [read(2), 40, 50, shown("b", 2)], [read(), 60, 70, shown("k=a b")]],
    [MADE, [append("b"), 20, 30, "unknown"], [read(), 40, 50, shown("k=a")], [read(), 60, 70, shown("b k=a")]],
    "a sequence is one event",
  ],
  [
    "what was acknowledged is there",
    [MADE, [read(), 20, 30, shown("k=a")]],
    [MADE, [read(), 20, 30, NOTHING]],
    "a read shows what ended before it began",
  ],
  [
    "a read returns the events that exist",
    [MADE, [read(2), 20, 30, { kind: "events", events: [], lastSequence: 1 }]],
    [MADE, [read(1), 20, 30, { kind: "events", events: [], lastSequence: 1 }]],
    "a read returns the events that exist",
  ],
  [
    "a client appended every event in the log",
    [MADE, [append("b"), 20, 30, "unknown"], [read(), 40, 50, shown("k=a b")]],
    [MADE, [append("b"), 20, 30, "not-executed"], [read(), 40, 50, shown("k=a b")]],
    "every event was appended",
  ],
  [
    "an append that met a conflict is not there",
    [MADE, [append("b", "0"), 20, 30, conflict(1)], [read(), 40, 50, shown("k=a")]],
    [MADE, [append("b", "0"), 20, 30, conflict(1)], [read(), 40, 50, shown("k=a b")]],
    "every event was appended",
  ],
  [
    "an append is stored once",
    [MADE, [append("b"), 20, 30, "unknown"], [read(), 40, 50, shown("k=a b")]],
    [MADE, [append("b"), 20, 30, "unknown"], [read(), 40, 50, shown("k=a b b")]],
    "an append is stored once",
  ],
  [
    "a key is stored once",
    [MADE, [append("k=b"), 20, 30, again(1)], [read(), 40, 50, shown("k=a")]],
    [MADE, [append("k=b"), 20, 30, told(2)], [read(), 40, 50, shown("k=a k=b")]],
    "a key is stored once",
  ],
  [
    "duplicates have the first sequence",
    [MADE, [append("k=b"), 20, 30, again(1)]],
    [MADE, [append("k=b"), 20, 30, again(2)]],
    "duplicates have the first sequence",
  ],
  [
    "an answer names its events",
    [MADE, [append("c"), 20, 30, "unknown"], [append("b"), 20, 35, told(2)], [read(), 40, 50, shown("k=a b c")]],
    [MADE, [append("c"), 20, 30, "unknown"], [append("b"), 20, 35, told(2)], [read(), 40, 50, shown("k=a c b")]],
    "an answer names its events",
  ],
  [
    "each event of a batch has a sequence",
    [[append("x=a y=b"), 0, 10, told(1, 2)]],
    [[append("x=a y=b"), 0, 10, told(1)]],
    "each event has a sequence",
  ],
  [
    "a batch stands together",
    [
      [append("x=a y=b"), 0, 10, told(1, 2)],
      [append("c"), 0, 10, told(3)],
      [read(), 20, 30, shown("x=a y=b c")],
    ],
    [
      [append("x=a y=b"), 0, 10, told(1, 3)],
      [append("c"), 0, 10, told(2)],
      [read(), 20, 30, shown("x=a c y=b")],
    ],
    "a batch stands together",
  ],
  [
    "a batch is all or nothing, also if its outcome is not known",
    [
      [append("x=a y=b"), 0, 10, "unknown"],
      [append("c"), 0, 10, told(3)],
      [read(), 20, 30, shown("x=a y=b c")],
    ],
    [
      [append("x=a y=b"), 0, 10, "unknown"],
      [append("c"), 0, 10, told(2)],
      [read(), 20, 30, shown("x=a c")],
    ],
    "a batch is all or nothing",
  ],
  [
    "what is new of a batch stands together, and the rest is where it was",
    [MADE, [append("k=x l=b m=c"), 20, 30, told(1, 2, 3)], [read(), 40, 50, shown("k=a l=b m=c")]],
    [
      MADE,
      [append("k=x l=b m=c"), 20, 30, told(1, 2, 4)],
      [append("d"), 20, 30, told(3)],
      [read(), 40, 50, shown("k=a l=b d m=c")],
    ],
    "a batch stands together",
  ],
  [
    "order follows time, for each client and among them",
    [
      [append("a"), 0, 10, told(2)],
      [append("b"), 5, 15, told(1)],
      [append("c"), 20, 30, told(3)],
    ],
    [
      [append("a"), 0, 10, told(2)],
      [append("b"), 15, 20, told(1)],
    ],
    "order follows time",
  ],
  [
    "a read shows what was read before it began",
    [MADE, [append("b"), 15, 60, told(2)], [read(), 20, 30, shown("k=a b")], [read(), 40, 50, shown("k=a b")]],
    [MADE, [append("b"), 15, 60, told(2)], [read(), 20, 30, shown("k=a b")], [read(), 40, 50, shown("k=a")]],
    "a read shows what ended before it began",
  ],
  [
    "an expected sequence is exact",
    [MADE, [append("b", "1"), 20, 30, told(2)]],
    [MADE, [append("b", "0"), 20, 30, told(2)]],
    "an expected sequence is exact",
  ],
  [
    "an expected sequence does not count for what was stored before",
    [MADE, [append("b"), 20, 30, told(2)], [append("k=a", "0"), 40, 50, again(1)]],
    [MADE, [append("b"), 20, 30, told(2)], [append("l=c", "0"), 40, 50, told(3)], [read(), 60, 70, shown("k=a b l=c")]],
    "an expected sequence is exact",
  ],
  [
    "what was stored before is answered again, whatever sequence is expected",
    [
      [append("x=a"), 0, 10, told(1)],
      [append("x=b y=c", "0"), 20, 30, conflict(1)],
      [append("x=d", "0"), 40, 50, again(1)],
    ],
    [
      [append("x=a"), 0, 10, told(1)],
      [append("x=d", "0"), 40, 50, conflict(1)],
    ],
    "duplicates come before the sequence",
  ],
  [
    "what is being stored may meet a conflict",
    [
      [append("x=a"), 0, 30, told(2)],
      [append("b"), 0, 10, told(1)],
      [append("x=c", "0"), 20, 25, conflict(1)],
    ],
    [
      [append("x=a"), 0, 15, told(2)],
      [append("b"), 0, 10, told(1)],
      [append("x=c", "0"), 20, 25, conflict(2)],
    ],
    "duplicates come before the sequence",
  ],
  [
    "a conflict is one",
    [MADE, [append("b", "9007199254740993"), 20, 30, conflict(1)]],
    [MADE, [append("b", "1"), 20, 30, conflict(1)]],
    "a conflict is one",
  ],
  [
    "a conflict names the last sequence",
    [MADE, [append("b"), 20, 30, told(2)], [append("c", "0"), 25, 40, conflict(1)]],
    [MADE, [append("b"), 20, 30, told(2)], [append("c", "0"), 35, 40, conflict(1)]],
    "a conflict names the last sequence",
  ],
];

describe("the oracle of event logs", () => {
  for (const [rule, good, bad, said] of HISTORIES) {
    it(`lets pass, and does not: ${rule}`, () => {
      expect(judged(...good)).to.equal("");
      expect(judged(...bad)).to.include(said);
    });
  }

  it("says nothing about events that no client has read", () => {
    const made: Line = [append("x=a y=b z=c"), 0, 10, told(1, 2, 3)];
    expect(judged(made, [read(3), 20, 30, shown("z=c", 3)])).to.equal("");
    expect(judged(made, [read(3), 20, 30, shown("y=b", 3)])).to.include("an answer names its events");
  });

  it("assigns unread events to any append that fits, and takes read events as they are", () => {
    const line = (expected: string): Line => [append("x=b y=c", expected), 20, 30, told(2, 3)];
    const rest: Line = [read(3), 40, 50, shown("y=c", 3)];
    for (const expected of ["1", "2"]) {
      expect(judged(MADE, line(expected), rest)).to.equal("");
    }
    for (const expected of ["0", "3"]) {
      expect(judged(MADE, line(expected), rest)).to.include("an expected sequence is exact");
    }
    expect(judged(MADE, line("2"), [read(), 40, 50, shown("k=a x=b y=c")])).to.include("an expected sequence is exact");
  });

  it("judges the history of a long run", function () {
    this.timeout(60_000);
    const count = 150_000;
    const texts = Array.from({ length: count }, (_, at) => `k${at}=p${at}`);
    const appends = texts.map((text, at): Line => [append(text), 2 * at, 2 * at + 100, told(at + 1)]);
    const end = 3 * count;
    expect(judgedAll([...appends, [read(), end, end, shown(texts.join(" "))]])).to.equal("");
  });

  it("judges each log apart", () => {
    const other = { ...append("k=b"), log: "m" };
    expect(judged(MADE, [other, 20, 30, told(1)])).to.equal("");
    expect(judged(MADE, [{ ...read(), log: "m" }, 20, 30, shown("k=a")])).to.include("log m: every event was appended");
  });
});
