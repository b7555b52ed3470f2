import { expect } from "chai";
import { created, deleted, found, get, historyOf, type Line, overwritten, put, remove, UNKNOWN } from "./example.ts";
import { History, type KeyContent, type RecordedOperation } from "./history.ts";
import { beginTransaction } from "./transactions.ts";
import { watchCheck } from "./watch-check.ts";
import type { WatchedChange, WatchedStream, Watching, WatchMessage } from "./watch-history.ts";
import type { WatchLimits } from "./watch-streams.ts";

const LIMITS: WatchLimits = { clockDrift: 0, clockResolutionMs: 0, compactRevisionMax: 0 };

function judged(lines: readonly Line[], watchings: readonly Watching[], limits = LIMITS): string {
  return watchCheck(watchings, historyOf(...lines), limits).join("\n");
}

function content(value: string, createRevision: number, modRevision: number, version: number): KeyContent {
  return { value, createRevision, modRevision, version };
}

function change(kind: WatchedChange["kind"], now: KeyContent, previous?: KeyContent | null, key = "k"): WatchedChange {
  return { kind, key, content: now, previous };
}

function message(revision: number, changes: readonly WatchedChange[], atMs = 1_000): WatchMessage {
  return { kind: changes.length === 0 ? "progress" : "changes", revision, changes, atMs };
}

/** A stream from the revision, whose `created` message has that start. */
function stream(startRevision: number, ...messages: readonly WatchMessage[]): WatchedStream {
  const first: WatchMessage = { kind: "created", revision: Math.max(0, startRevision - 1), changes: [], atMs: 1_000 };
  return { startRevision, startMs: 0, messages: [first, ...messages] };
}

const watching = (...streams: readonly WatchedStream[]): Watching => ({ client: "w", prefix: "k", streams });

const A = content("a", 2, 2, 1);
const B = content("b", 2, 3, 2);
const GONE = content("b", 2, 4, 2);
const C = content("c", 5, 5, 1);
const PUT_A = change("put", A, null);
const PUT_B = change("put", B, A);
const DELETE_B = change("delete", GONE, B);
const PUT_C = change("put", C, null);

/** A key is written twice, deleted, and created again. Another key is outside the watchers' prefix. */
const LINES: readonly Line[] = [
  [put("a"), 0, 10, created(2)],
  [put("b"), 20, 30, overwritten(3)],
  [remove(), 40, 50, deleted(4)],
  [put("c"), 60, 70, created(5)],
  [put("d", "other"), 80, 90, created(6)],
];
const WHOLE = [message(2, [PUT_A]), message(4, [PUT_B, DELETE_B]), message(5, [PUT_C]), message(6, [])];
const short: Line = [{ kind: "put", key: "k", value: "a", ttlMs: 500 }, 0, 10, created(2)];

interface Case {
  readonly rule: string;
  readonly lines?: readonly Line[];
  readonly good: readonly Watching[];
  readonly bad: readonly Watching[];
  readonly said: string;
}

const CASES: readonly Case[] = [
  {
    rule: "a stream is created before anything else",
    good: [watching(stream(1, ...WHOLE))],
    bad: [watching({ startRevision: 1, startMs: 0, messages: WHOLE })],
    said: "created once",
  },
  {
    rule: "a stream is created once",
    good: [watching(stream(1, ...WHOLE))],
    bad: [watching(stream(1, ...WHOLE, { ...message(6, []), kind: "created" }))],
    said: "created once",
  },
  {
    rule: "changes come in the order of their revisions",
    good: [watching(stream(1, message(4, [PUT_A, PUT_B, DELETE_B])))],
    bad: [watching(stream(1, message(4, [PUT_B, PUT_A, DELETE_B])))],
    said: "changes come in order",
  },
  {
    rule: "a change is sent once",
    good: [watching(stream(1, message(2, [PUT_A]), message(3, [PUT_B])))],
    bad: [watching(stream(1, message(2, [PUT_A]), message(3, [PUT_A, PUT_B])))],
    said: "is sent once",
  },
  {
    rule: "a revision is not split over messages",
    good: [watching(stream(1, message(3, [PUT_A, PUT_B])))],
    bad: [watching(stream(1, message(3, [PUT_A]), message(3, [PUT_B])))],
    said: "is sent once, and whole",
  },
  {
    rule: "the revisions of messages grow",
    good: [watching(stream(1, message(3, [PUT_A, PUT_B])))],
    bad: [watching(stream(1, message(2, [PUT_A, PUT_B])))],
    said: "the revisions of messages grow",
  },
  {
    rule: "progress never goes back",
    good: [watching(stream(1, message(3, [PUT_A, PUT_B]), message(3, [])))],
    bad: [watching(stream(1, message(3, [PUT_A, PUT_B]), message(2, [])))],
    said: "the revisions of messages grow",
  },
  {
    rule: "only keys with the prefix are sent",
    good: [watching(stream(1, ...WHOLE))],
    bad: [watching(stream(1, ...WHOLE.slice(0, 3), message(6, [change("put", content("d", 6, 6, 1), null, "other")])))],
    said: "only keys with the prefix",
  },
  {
    rule: "what was acknowledged is not left out",
    good: [watching(stream(1, message(2, [PUT_A])))],
    bad: [watching(stream(1, message(2, [PUT_A]), message(3, [])))],
    said: "nothing is left out",
  },
  {
    rule: "no change that another watcher got is left out",
    lines: [[put("a"), 0, 10, UNKNOWN]],
    good: [watching(stream(1, message(2, [PUT_A]))), watching(stream(1, message(1, [])))],
    bad: [watching(stream(1, message(2, [PUT_A]))), watching(stream(1, message(2, [])))],
    said: "nothing is left out",
  },
  {
    rule: "all watchers get the same",
    good: [watching(stream(1, ...WHOLE)), watching(stream(2, ...WHOLE))],
    bad: [watching(stream(1, ...WHOLE)), watching(stream(2, message(2, [change("put", { ...A, version: 2 }, null)])))],
    said: "all watchers get the same",
  },
  {
    rule: "a change stands at the revision that was answered",
    good: [watching(stream(1, message(2, [PUT_A])))],
    bad: [watching(stream(1, message(3, [change("put", content("a", 3, 3, 1), null)])))],
    said: "got another revision",
  },
  {
    rule: "a revision is that of one change",
    good: [watching(stream(1, message(2, [PUT_A])))],
    bad: [watching(stream(1, message(2, [change("put", A, null, "k2")])))],
    said: "which changed something else",
  },
  {
    rule: "a client writes each value",
    lines: [[put("a"), 0, 10, UNKNOWN]],
    good: [watching(stream(1, message(2, [PUT_A])))],
    bad: [watching(stream(1, message(2, [change("put", content("z", 2, 2, 1), null)])))],
    said: "no client had begun to write",
  },
  {
    rule: "a client deletes each deleted key",
    lines: [
      [put("a"), 0, 10, created(2)],
      [remove(), 20, 30, UNKNOWN],
    ],
    good: [watching(stream(1, message(3, [PUT_A, change("delete", { ...A, modRevision: 3 }, A)])))],
    bad: [watching(stream(1, message(3, [PUT_A, change("delete", { ...A, modRevision: 3 }, A)], 15)))],
    said: "no client had begun to delete",
  },
  {
    rule: "a key with a TTL expires, and not early",
    lines: [short],
    good: [watching(stream(1, message(2, [PUT_A]), message(3, [change("expire", { ...A, modRevision: 3 }, A)], 501)))],
    bad: [watching(stream(1, message(2, [PUT_A]), message(3, [change("expire", { ...A, modRevision: 3 }, A)], 499)))],
    said: "expires too early",
  },
  {
    rule: "no other key expires",
    lines: [short, [put("x", "k2"), 0, 10, created(3)]],
    good: [watching(stream(3, message(4, [change("put", content("x", 3, 3, 1), null, "k2")])))],
    bad: [
      watching(
        stream(
          3,
          message(3, [change("put", content("x", 3, 3, 1), null, "k2")]),
          message(4, [change("expire", content("x", 3, 4, 1), content("x", 3, 3, 1), "k2")]),
        ),
      ),
    ],
    said: "has no TTL",
  },
  {
    rule: "the value before a change is that of the change before",
    good: [watching(stream(1, message(3, [PUT_A, PUT_B])))],
    bad: [watching(stream(1, message(3, [PUT_A, change("put", B, null)])))],
    said: "the value before a change",
  },
  {
    rule: "there was no value before a new creation",
    good: [watching(stream(1, ...WHOLE))],
    bad: [watching(stream(1, ...WHOLE.slice(0, 2), message(5, [change("put", C, B)])))],
    said: "the value before a change",
  },
  {
    rule: "a key goes from one version to the next",
    good: [watching(stream(3, message(3, [PUT_B])))],
    bad: [watching(stream(3, message(3, [change("put", { ...B, version: 3 }, A)])))],
    said: "from one version to the next",
  },
  {
    rule: "the end of a key shows its last value",
    good: [watching(stream(1, ...WHOLE))],
    bad: [watching(stream(1, message(4, [PUT_A, PUT_B, change("delete", { ...GONE, value: "a" }, B)])))],
    said: "from one version to the next",
  },
  {
    rule: "a stream goes on where another has ended",
    good: [watching(stream(1, message(3, [PUT_A, PUT_B])), stream(4, message(5, [DELETE_B, PUT_C])))],
    bad: [watching(stream(1, message(3, [PUT_A, PUT_B])), stream(5, message(5, [PUT_C])))],
    said: "resumes where it was",
  },
  {
    rule: "a stream that goes on repeats nothing",
    good: [watching(stream(1, message(3, [PUT_A, PUT_B])), stream(4, message(4, [DELETE_B])))],
    bad: [watching(stream(1, message(3, [PUT_A, PUT_B])), stream(4, message(4, [PUT_B, DELETE_B])))],
    said: "is sent once",
  },
  {
    rule: "a stream that goes on leaves nothing out",
    good: [watching(stream(1, message(3, [PUT_A, PUT_B])), stream(4, message(5, [DELETE_B, PUT_C])))],
    bad: [watching(stream(1, message(3, [PUT_A, PUT_B])), stream(4, message(5, [PUT_C])))],
    said: "nothing is left out",
  },
  {
    rule: "nothing is sent before it is written",
    good: [watching(stream(1, message(2, [PUT_A], 15), message(3, [PUT_B], 25)))],
    bad: [watching(stream(1, message(2, [PUT_A], 15), message(3, [PUT_B], 18)))],
    said: "nothing is sent before it is written",
  },
];

describe("the judgement of watches of keys", () => {
  for (const { rule, lines = LINES, good, bad, said } of CASES) {
    it(`${rule}: passes what keeps to it`, () => {
      expect(judged(lines, good)).to.equal("");
    });
    it(`${rule}: finds what does not`, () => {
      expect(judged(lines, bad)).to.contain(said);
    });
  }

  it("a watch that begins ahead of what there is may say so at once", () => {
    const ahead = stream(5, message(5, [PUT_C], 65));
    const early = { ...ahead, messages: ahead.messages.map((one) => ({ ...one, atMs: Math.min(one.atMs, 12) })) };
    const created = {
      ...ahead,
      messages: [{ ...(ahead.messages[0] as WatchMessage), atMs: 12 }, ...ahead.messages.slice(1)],
    };
    expect(judged(LINES, [watching(created)])).to.equal("");
    expect(judged(LINES, [watching(early)])).to.contain("nothing is sent before it is written");
  });

  it("a watch from now on begins after all acknowledged changes, also those shown to readers", () => {
    const lines: readonly Line[] = [...LINES.slice(0, 1), [get(), 20, 30, found("a", [2, 2, 1], 3)]];
    const from = (startMs: number, revision: number): Watching =>
      watching({ startRevision: 0, startMs, messages: [{ kind: "created", revision, changes: [], atMs: 100 }] });
    expect(judged(lines, [from(40, 3)])).to.equal("");
    expect(judged(lines, [from(25, 2)])).to.equal("");
    expect(judged(lines, [from(40, 2)])).to.contain("begins now");
  });

  it("a watch from now on leaves out nothing that comes", () => {
    const first: WatchMessage = { kind: "created", revision: 2, changes: [], atMs: 15 };
    const now = (...messages: readonly WatchMessage[]): Watching =>
      watching({ startRevision: 0, startMs: 12, messages: [first, ...messages] });
    expect(judged(LINES, [now(message(3, [PUT_B]))])).to.equal("");
    expect(judged(LINES, [now(message(3, []))])).to.contain("nothing is left out");
  });

  it("only a compacted start is refused", () => {
    const refusal = (startRevision: number, compactRevision: number): Watching =>
      watching({ startRevision, startMs: 0, messages: [], compactRevision }, stream(compactRevision));
    const limits = { ...LIMITS, compactRevisionMax: 4 };
    expect(judged(LINES, [refusal(3, 4)], limits)).to.equal("");
    expect(judged(LINES, [refusal(4, 4)], limits)).to.contain("is refused");
    expect(judged(LINES, [refusal(3, 5)], limits)).to.contain("is refused");
    expect(judged(LINES, [refusal(3, 4)])).to.contain("is refused");
  });

  it("compacted changes need not be sent", () => {
    const limits = { ...LIMITS, compactRevisionMax: 5 };
    const refused: WatchedStream = { startRevision: 3, startMs: 0, messages: [], compactRevision: 5 };
    const goesOn = watching(stream(1, message(2, [PUT_A])), refused, stream(5, message(5, [PUT_C])));
    expect(judged(LINES, [goesOn], limits)).to.equal("");
    const leaves = watching(stream(1, message(2, [PUT_A])), refused, stream(5, message(5, [])));
    expect(judged(LINES, [leaves], limits)).to.contain("nothing is left out");
  });
});

describe("a key that was touched", () => {
  it("may expire without a TTL of its write", () => {
    const expired = watching(
      stream(1, message(2, [PUT_A]), message(3, [change("expire", { ...A, modRevision: 3 }, A)])),
    );
    const lines: readonly Line[] = [[put("a"), 0, 10, created(2)]];
    expect(judged(lines, [expired])).to.contain("the value has no TTL");
    expect(judged(lines, [expired], { ...LIMITS, touched: new Set(["k"]) })).to.equal("");
  });
});

describe("what a transaction changes", () => {
  const written = (key: string): WatchedChange => change("put", { ...A, value: `${key}-a` }, null, key);
  const both = [written("k1"), written("k2")] as const;

  /** A transaction over two keys, whose outcome is unknown unless it is acknowledged. */
  function operations(isAcknowledged: boolean): readonly RecordedOperation[] {
    const history = new History(() => 0);
    const keys = ["k1", "k2"].map((key) => ({ key, write: { kind: "put", value: `${key}-a` } as const }));
    const answer = { succeeded: true, revision: 2, contents: [null, null] };
    beginTransaction(history, "c", keys).end(isAcknowledged ? { kind: "ok", answer } : { kind: "unknown" });
    return history.operations;
  }

  for (const isAcknowledged of [true, false]) {
    it(`comes whole at one revision, ${isAcknowledged ? "as" : "whether or not"} it was acknowledged`, () => {
      const judge = (...changes: readonly WatchedChange[]) =>
        watchCheck([watching(stream(1, message(2, changes)))], operations(isAcknowledged), LIMITS).join();
      expect(judge(...both)).to.equal("");
      expect(judge(both[0])).to.match(/nothing is left out/);
      expect(judge(...both, both[0])).to.match(/changes come in order, each once/);
    });
  }

  it("is one change of a revision if it is no transaction", () => {
    const apart = operations(true).map(({ step: _, ...operation }) => operation);
    expect(watchCheck([watching(stream(1, message(2, both)))], apart, LIMITS).join()).to.match(/each once/);
  });
});
