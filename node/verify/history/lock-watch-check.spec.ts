import { expect } from "chai";
import {
  acquire,
  acquired,
  change,
  described,
  describeIt,
  force,
  type LockLine,
  locksOf,
  notAcquired,
  release,
  released,
  TTL_MS,
  viewAt,
} from "./lock-example.ts";
import type { LockMode } from "./lock-history.ts";
import { type LockWatchLimits, lockWatchCheck } from "./lock-watch-check.ts";
import type { WatchedLockChange, WatchedStream, Watching, WatchMessage } from "./watch-history.ts";

type Change = WatchedLockChange;

const LIMITS: LockWatchLimits = {
  clockDrift: 0,
  clockResolutionMs: 0,
  compactRevisionMax: 0,
  nameOf: (lock) => lock,
};

function judged(lines: readonly LockLine[], watchings: readonly Watching<Change>[], limits = LIMITS): string {
  return lockWatchCheck(watchings, locksOf(...lines), limits).join("\n");
}

/** The owner, the token and the mode of a hold. */
type Held = readonly [owner: string, token: number, mode?: LockMode];

function begins([owner, token, mode = "exclusive"]: Held, more: Partial<Change> = {}): Change {
  return { kind: "acquired", lock: "l", owner, mode, token, reason: "normal", revision: token, ...more };
}

function ends(held: Held, revision: number, reason: Change["reason"] = "normal"): Change {
  return begins(held, { kind: "released", revision, reason });
}

function message(revision: number, changes: readonly Change[], atMs = 5_000): WatchMessage<Change> {
  return { kind: changes.length === 0 ? "progress" : "changes", revision, changes, atMs };
}

/** A stream from the revision, whose `created` message has that start. */
function stream(startRevision: number, ...messages: readonly WatchMessage<Change>[]): WatchedStream<Change> {
  const first = { kind: "created", revision: startRevision - 1, changes: [], atMs: 5_000 } as const;
  return { startRevision, startMs: 0, messages: [first, ...messages] };
}

const watching = (...streams: readonly WatchedStream<Change>[]): Watching<Change> => {
  return { client: "w", prefix: "l", streams };
};
/** One watcher that gets these changes from the first revision on, one revision in each message. */
function told(...changes: readonly Change[]): readonly Watching<Change>[] {
  const byRevision = [...Map.groupBy(changes, ({ revision }) => revision)];
  return [watching(stream(1, ...byRevision.map(([revision, ofRevision]) => message(revision, ofRevision))))];
}

const A: Held = ["a", 2];
const B: Held = ["b", 4];
/** Two clients hold the lock, one after the other. */
const LINES: readonly LockLine[] = [
  [acquire("a"), 0, 10, acquired(A)],
  [acquire("b", "exclusive", 1_000), 5, 40, acquired(B, [], 20)],
  [release(2), 20, 30, released(3)],
  [release(4), 50, 60, released(5)],
];
const WHOLE = [begins(A), ends(A, 3), begins(B), ends(B, 5)];

const READER: Held = ["r", 2, "read"];
const WRITER: Held = ["r", 3, "write"];
const DOWNGRADED: Held = ["r", 3, "read"];
/** A reader becomes a writer, and a reader again. */
const MODES: readonly LockLine[] = [
  [acquire("r", "read"), 0, 10, acquired(READER)],
  [change(2, "write"), 20, 30, acquired(WRITER)],
  [change(3, "read"), 40, 50, acquired(DOWNGRADED, [], 0, 4)],
];
const UPGRADE = [ends(READER, 3, "upgraded"), begins(WRITER, { reason: "upgraded" })] as const;
const DOWNGRADE = begins(DOWNGRADED, { reason: "downgraded", revision: 4 });

/** Two readers whose holds are taken away together. */
const READERS: readonly Held[] = [
  ["r", 2, "read"],
  ["s", 3, "read"],
];
const FORCED: readonly LockLine[] = [
  [acquire("r", "read"), 0, 10, acquired(["r", 2, "read"])],
  [acquire("s", "read"), 20, 30, acquired(["s", 3, "read"], [["r", 2, "read"]])],
  [force(0), 40, 50, released(4)],
];
const ALL_FORCED = READERS.map((held) => ends(held, 4, "forced"));
const BEGUN = READERS.map((held) => begins(held));

interface Case {
  readonly rule: string;
  readonly lines?: readonly LockLine[];
  readonly good: readonly Watching<Change>[];
  readonly bad: readonly Watching<Change>[];
  readonly said: string;
}

const CASES: readonly Case[] = [
  {
    rule: "only locks with the prefix are sent",
    good: told(...WHOLE),
    bad: told(...WHOLE, begins(["c", 6], { lock: "other" })),
    said: "only locks with the prefix",
  },
  {
    rule: "changes come in the order of their revisions",
    good: [watching(stream(1, message(5, WHOLE)))],
    bad: [watching(stream(1, message(5, [begins(A), begins(B), ends(A, 3), ends(B, 5)])))],
    said: "changes come in order",
  },
  {
    rule: "one revision has several ends of holds, each once",
    lines: FORCED,
    good: told(...BEGUN, ...ALL_FORCED),
    bad: told(...BEGUN, ...ALL_FORCED, ...ALL_FORCED),
    said: "each once",
  },
  {
    rule: "a revision of several changes is not split over messages",
    lines: MODES,
    good: [watching(stream(1, message(3, [begins(READER), ...UPGRADE]), message(4, [DOWNGRADE])))],
    bad: [
      watching(stream(1, message(3, [begins(READER), UPGRADE[0]]), message(3, [UPGRADE[1]]), message(4, [DOWNGRADE]))),
    ],
    said: "is sent once, and whole",
  },
  {
    rule: "a hold that was acknowledged is not left out",
    good: told(...WHOLE.slice(0, 2)),
    bad: [watching(stream(1, message(4, WHOLE.slice(0, 2))))],
    said: "nothing is left out",
  },
  {
    rule: "a release that was acknowledged is not left out",
    good: told(...WHOLE),
    bad: [watching(stream(1, message(5, WHOLE.slice(0, 3))))],
    said: "nothing is left out",
  },
  {
    rule: "no change that another watcher got is left out, not even one of several at one revision",
    lines: FORCED,
    good: [...told(...BEGUN, ...ALL_FORCED), watching(stream(4, message(4, ALL_FORCED)))],
    bad: [...told(...BEGUN, ...ALL_FORCED), watching(stream(4, message(4, ALL_FORCED.slice(1))))],
    said: "nothing is left out",
  },
  {
    rule: "all watchers get the same",
    good: [...told(...WHOLE), ...told(...WHOLE)],
    bad: [...told(...WHOLE), watching(stream(3, message(3, [ends(A, 3, "forced")])))],
    said: "all watchers get the same",
  },
  {
    rule: "a stream goes on where another has ended, and repeats nothing",
    good: [watching(stream(1, message(3, WHOLE.slice(0, 2))), stream(4, message(5, WHOLE.slice(2))))],
    bad: [watching(stream(1, message(3, WHOLE.slice(0, 2))), stream(4, message(5, WHOLE.slice(1))))],
    said: "is sent once",
  },
  {
    rule: "nothing is sent before its request",
    good: [watching(stream(1, message(2, [begins(A)], 7), message(3, [ends(A, 3)], 25)))],
    bad: [watching(stream(1, message(2, [begins(A)], 7), message(3, [ends(A, 3)], 15)))],
    said: "nothing is sent before it is written",
  },
  {
    rule: "a hold begins at the revision that is its token",
    good: told(...WHOLE.slice(0, 1)),
    bad: told(begins(A, { token: 1 })),
    said: "begins at the revision that is its token",
  },
  {
    rule: "a hold belongs to its requester",
    lines: [[acquire("a"), 0, 10, "unknown"]],
    good: told(begins(A)),
    bad: told(begins(["z", 2])),
    said: "a hold belongs to its requester",
  },
  {
    rule: "a request that was not executed has no hold",
    lines: [[acquire("a"), 0, 10, "unknown"]],
    good: told(begins(A)),
    bad: [watching(stream(1, message(2, [begins(A)], -1)))],
    said: "a hold belongs to its requester",
  },
  {
    rule: "a hold has the requested mode",
    lines: [[acquire("r", "read"), 0, 10, "unknown"]],
    good: told(begins(READER)),
    bad: told(begins(["r", 2, "write"])),
    said: "a hold is what its owner requested",
  },
  {
    rule: "an owner whose answer shows no hold has none",
    lines: [
      [acquire("a"), 0, 10, acquired(A)],
      [acquire("b"), 20, 30, notAcquired(viewAt(2, [A]))],
      [release(2), 40, 50, released(3)],
    ],
    good: told(begins(A), ends(A, 3)),
    bad: told(begins(A), ends(A, 3), begins(B)),
    said: "a hold is what its owner requested",
  },
  {
    rule: "there is no other hold beside an exclusive one: its end comes before the next beginning",
    lines: LINES.map(([asked, startMs]) => [asked, startMs, 0, "unknown"] as const),
    good: told(...WHOLE),
    bad: told(begins(A), begins(["b", 3]), ends(A, 4)),
    said: "no hold begins beside",
  },
  {
    rule: "a hold begins before it ends",
    lines: LINES.slice(0, 1),
    good: told(begins(A), ends(A, 3, "expired")),
    bad: told(ends(A, 3, "expired")),
    said: "a hold begins before it ends",
  },
  {
    rule: "a hold ends once",
    lines: LINES.slice(0, 1),
    good: told(begins(A), ends(A, 3, "expired")),
    bad: told(begins(A), ends(A, 3, "expired"), ends(A, 4, "expired")),
    said: "and ends once",
  },
  {
    rule: "a hold keeps its owner",
    good: told(...WHOLE),
    bad: told(begins(A), ends(["b", 2], 3), begins(B), ends(B, 5)),
    said: "a hold ends as it was",
  },
  {
    rule: "an upgrade ends one hold and begins another, in this order",
    lines: MODES,
    good: told(begins(READER), ...UPGRADE, DOWNGRADE),
    bad: told(begins(READER), ...UPGRADE.toReversed(), DOWNGRADE),
    said: "an upgrade ends one hold and begins another",
  },
  {
    rule: "both changes of an upgrade are sent",
    lines: MODES.slice(0, 1),
    good: told(begins(READER)),
    bad: told(begins(READER), UPGRADE[0]),
    said: "an upgrade ends one hold and begins another",
  },
  {
    rule: "an upgrade has a request",
    lines: [
      [acquire("r", "read"), 0, 10, "unknown"],
      [change(2, "write"), 20, 30, "unknown"],
    ],
    good: told(begins(READER), ...UPGRADE),
    bad: [watching(stream(1, message(3, [begins(READER), ...UPGRADE], 15)))],
    said: "an upgrade has a request",
  },
  {
    rule: "a downgrade has a request",
    lines: [
      [acquire("r", "write"), 0, 10, "unknown"],
      [change(3, "read"), 20, 30, "unknown"],
    ],
    good: told(begins(WRITER), DOWNGRADE),
    bad: [watching(stream(1, message(4, [begins(WRITER), DOWNGRADE], 15)))],
    said: "a downgrade has a request",
  },
  {
    rule: "only a hold for writing is downgraded",
    lines: [
      [acquire("r", "read"), 0, 10, "unknown"],
      [change(2, "read"), 20, 30, "unknown"],
    ],
    good: told(begins(READER)),
    bad: told(begins(READER), begins(READER, { reason: "downgraded", revision: 3 })),
    said: "only a hold for writing is downgraded",
  },
  {
    rule: "a client releases the hold",
    good: told(...WHOLE),
    bad: [watching(stream(1, message(3, [begins(A), ends(A, 3)], 15)))],
    said: "a client releases the hold",
  },
  {
    rule: "no client releases a hold whose caller may have left",
    lines: [[acquire("a"), 0, 10, "unknown"]],
    good: told(begins(A), ends(A, 3)),
    bad: told(begins(A), ends(A, 3, "forced")),
    said: "a client takes the hold away",
  },
  {
    rule: "a client takes the hold away",
    lines: FORCED,
    good: told(...BEGUN, ...ALL_FORCED),
    bad: [watching(stream(1, message(4, [...BEGUN, ...ALL_FORCED], 35)))],
    said: "a client takes the hold away",
  },
  {
    rule: "no hold expires before its time",
    lines: LINES.slice(0, 1),
    good: [watching(stream(1, message(3, [begins(A), ends(A, 3, "expired")], TTL_MS)))],
    bad: [watching(stream(1, message(3, [begins(A), ends(A, 3, "expired")], TTL_MS - 1)))],
    said: "no hold expires before its time",
  },
  {
    rule: "no hold expires before the time of its renewal",
    lines: [...LINES.slice(0, 1), [change(2), 500, 510, acquired(A, [], 0, 3)]],
    good: [watching(stream(1, message(4, [begins(A), ends(A, 4, "expired")], 500 + TTL_MS)))],
    bad: [watching(stream(1, message(4, [begins(A), ends(A, 4, "expired")], 499 + TTL_MS)))],
    said: "no hold expires before its time",
  },
  {
    rule: "beginnings and ends of holds have different reasons",
    lines: [[acquire("a"), 0, 10, "unknown"]],
    good: told(begins(A)),
    bad: told(begins(A, { reason: "expired" }), ends(A, 3, "downgraded")),
    said: "no hold begins because another one is expired",
  },
  {
    rule: "a hold in an answer was sent to the watchers",
    lines: [
      [acquire("a"), 0, 10, "unknown"],
      [describeIt, 20, 30, described(viewAt(2, [A]))],
    ],
    good: told(begins(A)),
    bad: [watching(stream(1, message(2, [])))],
    said: "answers and watches show the same of a lock",
  },
  {
    rule: "a hold that was sent to the watchers is in the answers",
    lines: [
      [acquire("a"), 0, 10, "unknown"],
      [describeIt, 20, 30, described(viewAt(3, []))],
    ],
    good: [watching(stream(1, message(3, [])))],
    bad: [watching(stream(1, message(3, [begins(A)])))],
    said: "answers and watches show the same of a lock",
  },
  {
    rule: "a hold shown as a reader's was sent as one",
    lines: [
      [acquire("r", "write"), 0, 10, "unknown"],
      [change(3, "read"), 20, 30, "unknown"],
      [describeIt, 40, 50, described(viewAt(4, [DOWNGRADED]))],
    ],
    good: told(begins(WRITER), DOWNGRADE),
    bad: [watching(stream(1, message(4, [begins(WRITER)])))],
    said: "answers and watches show the same of a lock",
  },
];

describe("the judgement of watches of locks", () => {
  for (const { rule, lines = LINES, good, bad, said } of CASES) {
    it(`${rule}: passes what keeps to it`, () => {
      expect(judged(lines, good)).to.equal("");
    });
    it(`${rule}: finds what does not`, () => {
      expect(judged(lines, bad)).to.contain(said);
    });
  }

  it("a hold that began before a watch may end in it, and be shown", () => {
    const lines: readonly LockLine[] = [...LINES.slice(0, 3), [describeIt, 15, 18, described(viewAt(2, [A]))]];
    expect(judged(lines, [watching(stream(2, message(4, [begins(A), ends(A, 3), begins(B)])))])).to.equal("");
    expect(judged(lines, [watching(stream(3, message(4, [ends(A, 3), begins(B)])))])).to.equal("");
  });

  it("prefixes apply to the names of locks", () => {
    const limits: LockWatchLimits = { ...LIMITS, nameOf: (lock) => `my-${lock}` };
    const called = (prefix: string): readonly Watching<Change>[] => told(...WHOLE).map((one) => ({ ...one, prefix }));
    expect(judged(LINES, called("my-"), limits)).to.equal("");
    expect(judged(LINES, called("l"), limits)).to.contain("only locks with the prefix");
  });

  it("a watch from now on begins after all acknowledged changes", () => {
    const from = (startMs: number, revision: number): Watching<Change> => {
      const created = { kind: "created", revision, changes: [], atMs: 100 } as const;
      return watching({ startRevision: 0, startMs, messages: [created] });
    };
    expect(judged(LINES, [from(70, 5)])).to.equal("");
    expect(judged(LINES, [from(70, 4)])).to.contain("begins now");
  });
});
