import { expect } from "chai";
import type { ExpiryLimits } from "./expiries.ts";
import {
  acquired,
  acquireIn,
  described,
  describeIt,
  type LockLine,
  locksOf,
  refused,
  release,
  released,
  viewAt,
} from "./lock-example.ts";
import { sessionCheck } from "./session-check.ts";
import type { SessionAnswer, SessionOperation, SessionRecord } from "./session-history.ts";

const LIMITS: ExpiryLimits = { clockDrift: 0, clockResolutionMs: 0, lateMsMax: 2_000, leaderless: [] };
const TTL_MS = 1_000;
/** The session of all lines. */
const ID = 5;

/** A line: the request, its start and end in milliseconds, and its outcome. */
type SessionLine = readonly [SessionOperation, number, number, SessionAnswer | "unknown" | "not-executed"];

function sessionsOf(...lines: readonly SessionLine[]): SessionRecord[] {
  return lines.map(([operation, startMs, endMs, result], id) => {
    const shared = { id, client: `client-${id}`, operation, startMs };
    return typeof result === "string"
      ? { ...shared, endMs: result === "unknown" ? Number.POSITIVE_INFINITY : endMs, outcome: { kind: result } }
      : { ...shared, endMs, outcome: { kind: "ok", answer: result } };
  });
}

const renew = { kind: "renew", session: ID } as const;
const end = { kind: "end", session: ID } as const;
const describeSession = { kind: "describe", session: ID } as const;
const guardedWrite = { kind: "guarded-write", session: ID } as const;
const put = (key: string) => ({ kind: "put", session: ID, key }) as const;
const get = (key: string) => ({ kind: "get", session: ID, key }) as const;
const renewed = (revision: number) => ({ kind: "renewed", lifeMs: TTL_MS, revision }) as const;
const wasPut = (revision: number) => ({ kind: "put", revision }) as const;
const written = (revision: number) => ({ kind: "written", revision }) as const;
const found = (revision: number, session = ID) => ({ kind: "found", session, revision }) as const;
const ended = (revision: number) => ({ kind: "ended", revision }) as const;
const gone = (revision: number | null = null) => ({ kind: "gone", revision }) as const;
const shown = (revision: number, keys: readonly string[], tokens: readonly number[] = []) =>
  ({ kind: "described", keys, tokens, revision }) as const;

const CREATED: SessionLine = [
  { kind: "create", ttlMs: TTL_MS },
  0,
  10,
  { kind: "created", session: ID, lifeMs: TTL_MS },
];
const PUT: SessionLine = [put("k"), 20, 30, wasPut(6)];
const ENDED: SessionLine = [end, 100, 110, ended(9)];
const acquire = acquireIn(ID, "a");
const HELD: LockLine = [acquire, 20, 30, acquired(["a", 7])];

function judged(lines: readonly SessionLine[], locks: readonly LockLine[] = [], limits = LIMITS): string {
  return sessionCheck(sessionsOf(CREATED, ...lines), locksOf(...locks), limits).join("\n");
}

/** For each rule, a good history, a bad one, and a part of the message about the bad one. */
const HISTORIES: readonly (readonly [
  rule: string,
  good: readonly SessionLine[],
  bad: readonly SessionLine[],
  message: string,
])[] = [
  [
    "what was ended stays ended, by revisions",
    [ENDED, [renew, 105, 120, renewed(8)]],
    [ENDED, [renew, 105, 120, renewed(9)]],
    "a session that has ended is never live again",
  ],
  [
    "what was ended stays ended, by times",
    [ENDED, [describeSession, 105, 130, shown(8, [])]],
    [ENDED, [describeSession, 115, 130, shown(8, [])]],
    "a session that has ended is never live again",
  ],
  [
    "what has expired stays ended",
    [
      [renew, 2_000, 2_010, gone(9)],
      [renew, 2_020, 2_030, gone(9)],
    ],
    [
      [renew, 2_000, 2_010, gone(9)],
      [renew, 2_020, 2_030, renewed(9)],
    ],
    "a session that has ended is never live again",
  ],
  [
    "no key is seen after the end",
    [PUT, ENDED, [get("k"), 115, 120, gone()]],
    [PUT, ENDED, [get("k"), 105, 120, found(9)]],
    "a session that has ended is never live again",
  ],
  [
    "no key is put after the end",
    [ENDED, [put("late"), 115, 120, gone()]],
    [ENDED, [put("late"), 105, 120, wasPut(10)]],
    "a session that has ended is never live again",
  ],
  [
    "no write is guarded after the end",
    [ENDED, [guardedWrite, 105, 120, written(8)], [guardedWrite, 121, 125, gone()]],
    [ENDED, [guardedWrite, 105, 120, written(9)]],
    "a session that has ended is never live again",
  ],
  [
    "a guard fails only when its session is gone",
    [[guardedWrite, 990, 1_000, gone()]],
    [[guardedWrite, 990, 999, gone()]],
    "no session ends before its time",
  ],
  [
    "no session ends before its time",
    [[renew, 990, 1_000, gone(8)]],
    [[renew, 990, 999, gone(8)]],
    "no session ends before its time",
  ],
  [
    "a renewal prolongs the time, from when it was sent",
    [
      [renew, 500, 600, renewed(6)],
      [describeSession, 1_400, 1_500, gone()],
    ],
    [
      [renew, 500, 600, renewed(6)],
      [describeSession, 1_400, 1_499, gone()],
    ],
    "no session ends before its time",
  ],
  [
    "a renewal without an answer promises nothing",
    [
      [renew, 500, 600, "unknown"],
      [describeSession, 990, 1_000, gone()],
    ],
    [
      [renew, 500, 600, "unknown"],
      [describeSession, 990, 999, gone()],
    ],
    "no session ends before its time",
  ],
  [
    "only an end that may have been executed explains an early one",
    [
      [end, 100, 110, "unknown"],
      [renew, 200, 210, gone(9)],
    ],
    [
      [end, 100, 110, "not-executed"],
      [renew, 200, 210, gone(9)],
    ],
    "no session ends before its time",
  ],
  [
    "a key is there until the session ends",
    [PUT, [get("k"), 990, 1_000, gone()]],
    [PUT, [get("k"), 40, 50, gone()]],
    "no session ends before its time",
  ],
  [
    "a key that may not have been there yet says nothing",
    [PUT, [get("k"), 25, 35, gone()], [get("other"), 40, 50, gone()]],
    [PUT, [get("k"), 31, 35, gone()]],
    "no session ends before its time",
  ],
  [
    "an expired session is gone soon",
    [[describeSession, 3_010, 3_020, shown(6, [])]],
    [[describeSession, 3_011, 3_020, shown(6, [])]],
    "an expired session is gone soon",
  ],
  [
    "a key belongs to the session of its put",
    [PUT, [get("k"), 40, 50, found(6)]],
    [PUT, [get("k"), 40, 50, found(6, 0)]],
    "a key belongs to the session of its put",
  ],
  [
    "a session has all of its keys",
    [PUT, [describeSession, 40, 50, shown(6, ["k"])]],
    [PUT, [describeSession, 40, 50, shown(6, [])]],
    "a session has its keys until its end",
  ],
  [
    "a session has only its keys",
    [
      [put("k"), 20, 30, "unknown"],
      [describeSession, 40, 50, shown(6, ["k"])],
    ],
    [
      [put("k"), 20, 30, "not-executed"],
      [describeSession, 40, 50, shown(6, ["k"])],
    ],
    "a session has only what was put into it",
  ],
];

/** The same for holds; the rest of the history is in the first list. */
const LOCK_HISTORIES: readonly (readonly [
  rule: string,
  sessions: readonly SessionLine[],
  good: readonly LockLine[],
  bad: readonly LockLine[],
  message: string,
])[] = [
  [
    "no hold is seen after the end",
    [ENDED],
    [HELD, [describeIt, 105, 120, described(viewAt(8, [["a", 7]]))]],
    [HELD, [describeIt, 105, 120, described(viewAt(9, [["a", 7]]))]],
    "a session that has ended is never live again",
  ],
  [
    "no hold is granted after the end",
    [ENDED],
    [[acquire, 115, 120, refused("SESSION_NOT_FOUND")]],
    [[acquire, 105, 120, acquired(["a", 10])]],
    "a session that has ended is never live again",
  ],
  [
    "a hold that no answer has granted belongs to the session of its owner, too",
    [ENDED],
    [
      [acquire, 20, 30, "unknown"],
      [describeIt, 40, 50, described(viewAt(8, [["a", 7]]))],
    ],
    [
      [acquire, 20, 30, "unknown"],
      [describeIt, 40, 50, described(viewAt(9, [["a", 7]]))],
    ],
    "a session that has ended is never live again",
  ],
  [
    "a hold is there until the session ends",
    [],
    [HELD, [release(7), 40, 50, released(8)], [describeIt, 60, 70, described(viewAt(8, []))]],
    [HELD, [describeIt, 60, 70, described(viewAt(8, []))]],
    "no session ends before its time",
  ],
  [
    "a session is refused to a lock only after its end",
    [],
    [[acquire, 990, 1_000, refused("SESSION_NOT_FOUND")]],
    [[acquire, 990, 999, refused("SESSION_NOT_FOUND")]],
    "no session ends before its time",
  ],
  [
    "a session has all of its holds",
    [[describeSession, 40, 50, shown(7, [])]],
    [HELD, [release(7), 35, 45, released(8)]],
    [HELD],
    "a session has its holds until its end",
  ],
  [
    "a session has no hold that was released",
    [[describeSession, 40, 50, shown(8, [], [7])]],
    [HELD, [release(7), 35, 45, released(9)]],
    [HELD, [release(7), 35, 45, released(8)]],
    "a session has no hold that has ended",
  ],
];

describe("the oracle for sessions", () => {
  for (const [rule, good, bad, message] of HISTORIES) {
    it(rule, () => {
      expect(judged(good)).to.equal("");
      expect(judged(bad)).to.contain(message);
    });
  }

  for (const [rule, sessions, good, bad, message] of LOCK_HISTORIES) {
    it(rule, () => {
      expect(judged(sessions, good)).to.equal("");
      expect(judged(sessions, bad)).to.contain(message);
    });
  }

  it("no two sessions have one id", () => {
    expect(judged([CREATED])).to.contain("no two sessions have one id");
  });

  it("the time stands still without a leader", () => {
    const late: SessionLine = [describeSession, 3_500, 3_510, shown(6, [])];
    expect(judged([late])).to.contain("an expired session is gone soon");
    expect(judged([late], [], { ...LIMITS, leaderless: [{ fromMs: 100, toMs: 600 }] })).to.equal("");
  });

  it("counts each renewal that may have been executed", () => {
    const late: SessionLine = [describeSession, 3_500, 3_510, shown(6, [])];
    expect(judged([[renew, 500, 600, "unknown"], late])).to.equal("");
    expect(judged([[renew, 500, 600, "not-executed"], late])).to.contain("an expired session is gone soon");
  });
});
