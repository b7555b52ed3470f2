import { expect } from "chai";
import type { ExpiryLimits } from "./expiries.ts";
import { lockCheck } from "./lock-check.ts";
import {
  acquire,
  acquired,
  acquireIn,
  change,
  described,
  describeIt,
  force,
  guarded,
  type LockLine,
  locksOf,
  notAcquired,
  refused,
  release,
  released,
  TTL_MS,
  viewAt,
  written,
} from "./lock-example.ts";

const LIMITS: ExpiryLimits = { clockDrift: 0, clockResolutionMs: 0, lateMsMax: 2_000, leaderless: [] };

function judged(lines: readonly LockLine[], limits = LIMITS): string {
  return lockCheck(locksOf(...lines), limits).join("\n");
}

/** "a" holds the lock with the token 5. */
const HELD: LockLine = [acquire("a"), 0, 10, acquired(["a", 5])];
const READ: LockLine = [acquire("r", "read"), 0, 10, acquired(["r", 5, "read"])];
const WRITTEN: LockLine = [acquire("w", "write"), 0, 10, acquired(["w", 5, "write"])];
/** A hold that is ended by force at revision 4, then the next one. */
const FORCED: LockLine = [force(0), 2, 8, released(4)];
const HELD_LATER: LockLine = [acquire("a"), 10, 20, acquired(["a", 5])];
const RELEASED: LockLine = [release(5), 20, 30, released(6)];

function permitsOf(owner: string, permits: number): LockLine[0] {
  return { kind: "acquire", lock: "l", owner, mode: "permits", ttlMs: TTL_MS, waitMs: 0, permits };
}

/** "p" holds permits under the token, beside an earlier hold with permits; 0 = none. */
function permitsAt(
  token: number,
  permits: number,
  counts: { readonly permits: number; readonly heldPermits: number },
  earlier: number,
): LockLine[3] {
  const hold = { token, owner: "p", mode: "permits", permits } as const;
  const other = { token: token - 1, owner: "other", mode: "permits", permits: earlier } as const;
  const holds = earlier === 0 ? [hold] : [other, hold];
  const view = { state: "held", holds, waiters: 0, revision: token, ...counts } as const;
  return { kind: "acquired", token, mode: "permits", waitedMs: 0, isRepeated: false, view };
}

/** For each rule, a good history, a bad one, and a part of the message about the bad one. */
const HISTORIES: readonly (readonly [
  rule: string,
  good: readonly LockLine[],
  bad: readonly LockLine[],
  said: string,
])[] = [
  [
    "tokens grow over the life of a lock",
    [HELD, RELEASED, [acquire("b"), 40, 50, acquired(["b", 7])]],
    [HELD, RELEASED, [acquire("b"), 40, 50, acquired(["b", 4])]],
    "revisions never go backwards",
  ],
  [
    "tokens grow beyond every earlier revision",
    [
      [describeIt, 0, 5, described(viewAt(4, []))],
      [acquire("a"), 6, 10, acquired(["a", 5])],
    ],
    [
      [describeIt, 0, 5, described(viewAt(9, []))],
      [acquire("a"), 6, 10, acquired(["a", 5], [], 0, 9)],
    ],
    "revisions never go backwards",
  ],
  [
    "a hold is granted to one request",
    [HELD, [acquire("b"), 5, 15, notAcquired(viewAt(5, [["a", 5]]))]],
    [HELD, [acquire("b"), 5, 15, acquired(["b", 5])]],
    "a hold is granted to one request",
  ],
  [
    "no two exclusive holds, by the revisions of what they did",
    [
      HELD,
      [guarded(5), 20, 90, written(6)],
      [release(5), 30, 40, released(7)],
      [acquire("b"), 35, 80, acquired(["b", 8])],
    ],
    [
      HELD,
      [guarded(5), 20, 90, written(9)],
      [release(5), 30, 95, "unknown"],
      [acquire("b"), 35, 80, acquired(["b", 8])],
    ],
    "no hold beside",
  ],
  [
    "no two exclusive holds, by their times alone",
    [HELD, [release(5), 20, 90, "unknown"], [acquire("b"), 30, 40, acquired(["b", 7])]],
    [HELD, [release(5), 60, 90, "unknown"], [acquire("b"), 30, 40, acquired(["b", 7])]],
    "no hold beside",
  ],
  [
    "a hold that is renewed goes on",
    [HELD, [change(5), 900, 910, acquired(["a", 5], [], 0, 6)], [acquire("b"), 1_905, 1_915, acquired(["b", 9])]],
    [HELD, [change(5), 900, 910, acquired(["a", 5], [], 0, 6)], [acquire("b"), 1_400, 1_500, acquired(["b", 9])]],
    "no hold beside",
  ],
  [
    "no reader beside a writer",
    [WRITTEN, [release(5), 20, 30, released(6)], [acquire("r", "read"), 15, 40, acquired(["r", 7, "read"])]],
    [WRITTEN, [release(5), 60, 70, released(9)], [acquire("r", "read"), 15, 80, acquired(["r", 7, "read"])]],
    "no hold beside",
  ],
  [
    "readers are beside readers, and no writer is",
    [READ, [acquire("s", "read"), 20, 30, acquired(["s", 6, "read"], [["r", 5, "read"]])]],
    [READ, [acquire("s", "write"), 20, 30, acquired(["s", 6, "write"])]],
    "no hold beside",
  ],
  [
    "a writer that has become a reader is beside readers",
    [
      WRITTEN,
      [change(5, "read"), 20, 30, acquired(["w", 5, "read"], [], 0, 6)],
      [acquire("r", "read"), 40, 50, acquired(["r", 7, "read"], [["w", 5, "read"]])],
    ],
    [
      WRITTEN,
      [change(5, "read"), 20, 30, "unknown"],
      [acquire("r", "read"), 40, 50, acquired(["r", 7, "read"])],
      [describeIt, 60, 70, described(viewAt(8, [["w", 5, "write"]]))],
      [guarded(5), 80, 90, written(9)],
    ],
    "no hold beside",
  ],
  [
    "a client that gets LOCK_LOST may have become a reader before",
    [
      WRITTEN,
      [change(5, "read"), 20, 1_090, refused("LOCK_LOST")],
      [acquire("r", "read"), 30, 40, acquired(["r", 7, "read"], [["w", 5, "read"]])],
    ],
    [
      WRITTEN,
      [change(5, "write"), 20, 1_090, refused("LOCK_LOST")],
      [acquire("r", "read"), 30, 40, acquired(["r", 7, "read"], [["w", 5, "read"]])],
    ],
    "no hold beside",
  ],
  [
    "an upgrade ends the hold for reading",
    [READ, [change(5, "write"), 20, 30, acquired(["r", 6, "write"])], [guarded(6), 40, 50, written(7)]],
    [
      READ,
      [change(5, "write"), 20, 30, acquired(["r", 6, "write"])],
      [describeIt, 40, 50, described(viewAt(7, [["r", 5, "read"]]))],
    ],
    "never live again",
  ],
  [
    "an answer shows no holds that cannot be together",
    [READ, [describeIt, 20, 30, described(viewAt(6, [["r", 5, "read"]]))]],
    [
      READ,
      [acquire("s", "write"), 20, 30, "unknown"],
      [
        describeIt,
        20,
        30,
        described(
          viewAt(7, [
            ["r", 5, "read"],
            ["s", 6, "write"],
          ]),
        ),
      ],
    ],
    "no hold beside",
  ],
  [
    "a request has one hold at a time",
    [
      READ,
      [acquire("s", "read"), 20, 30, "unknown"],
      [
        describeIt,
        40,
        50,
        described(
          viewAt(6, [
            ["r", 5, "read"],
            ["s", 6, "read"],
          ]),
        ),
      ],
    ],
    [
      READ,
      [acquire("s", "read"), 20, 30, "unknown"],
      [
        describeIt,
        40,
        50,
        described(
          viewAt(7, [
            ["s", 6, "read"],
            ["s", 7, "read"],
          ]),
        ),
      ],
    ],
    "no request has two holds",
  ],
  [
    "a grant exceeds no permits",
    [
      [permitsOf("other", 1), 0, 10, "unknown"],
      [permitsOf("p", 2), 0, 10, permitsAt(5, 2, { permits: 3, heldPermits: 3 }, 1)],
    ],
    [
      [permitsOf("other", 2), 0, 10, "unknown"],
      [permitsOf("p", 2), 0, 10, permitsAt(5, 2, { permits: 3, heldPermits: 4 }, 2)],
    ],
    "permits are never exceeded by a grant",
  ],
  [
    "a hold has the permits that it asked for",
    [[permitsOf("p", 2), 0, 10, permitsAt(5, 2, { permits: 3, heldPermits: 2 }, 0)]],
    [[permitsOf("p", 2), 0, 10, permitsAt(5, 1, { permits: 3, heldPermits: 1 }, 0)]],
    "a hold has the permits that its request asked for",
  ],
  [
    "a semaphore counts the permits of its holds",
    [[permitsOf("p", 2), 0, 10, permitsAt(5, 2, { permits: 3, heldPermits: 2 }, 0)]],
    [[permitsOf("p", 2), 0, 10, permitsAt(5, 2, { permits: 3, heldPermits: 1 }, 0)]],
    "a semaphore counts the permits of its holds",
  ],
  [
    "what an answer shows was granted before",
    [
      [acquire("a"), 0, 10, "unknown"],
      [describeIt, 20, 30, described(viewAt(5, [["a", 5]]))],
    ],
    [
      [acquire("a"), 0, 10, "unknown"],
      [describeIt, 20, 30, described(viewAt(4, [["a", 5]]))],
    ],
    "before it is shown",
  ],
  [
    "a lock is free without holds",
    [[describeIt, 0, 5, described(viewAt(4, [], { state: "cooldown" }))]],
    [[describeIt, 0, 5, described(viewAt(4, [], { state: "held" }))]],
    "the state follows from the holds",
  ],
  [
    "the answer to an acquire shows the hold",
    [HELD],
    [[acquire("a"), 0, 10, { ...acquired(["a", 5]), view: viewAt(5, []) } as LockLine[3]]],
    "is among the owners shown",
  ],
  [
    "a hold belongs to its requester",
    [
      [acquire("a"), 0, 10, "unknown"],
      [describeIt, 20, 30, described(viewAt(5, [["a", 5]]))],
    ],
    [
      [acquire("a"), 40, 50, "unknown"],
      [describeIt, 20, 30, described(viewAt(5, [["a", 5]]))],
    ],
    "belongs to its requester",
  ],
  [
    "a request that was not executed has no hold",
    [
      [acquire("a"), 0, 10, "not-executed"],
      [describeIt, 20, 30, described(viewAt(5, []))],
    ],
    [
      [acquire("a"), 0, 10, "not-executed"],
      [describeIt, 20, 30, described(viewAt(5, [["a", 5]]))],
    ],
    "belongs to its requester",
  ],
  [
    "a guarded write takes effect before the release, by its revision",
    [HELD, [guarded(5), 15, 40, written(6)], [release(5), 20, 30, released(7)]],
    [HELD, [guarded(5), 15, 40, written(8)], [release(5), 20, 30, released(7)]],
    "never live again",
  ],
  [
    "a guarded write takes effect before the release, by its time",
    [HELD, [guarded(5), 25, 40, written(6)], [release(5), 20, 30, released(7)]],
    [HELD, [guarded(5), 35, 40, written(6)], [release(5), 20, 30, released(7)]],
    "never live again",
  ],
  [
    "a guarded write takes effect before a release by force",
    [HELD, [guarded(5), 15, 40, written(6)], [force(0), 20, 30, released(7)]],
    [HELD, [guarded(5), 15, 40, written(8)], [force(0), 20, 30, released(7)]],
    "never live again",
  ],
  [
    "a guarded write takes effect before the next hold",
    [
      HELD,
      [release(5), 20, 30, "unknown"],
      [guarded(5), 25, 60, written(6)],
      [acquire("b"), 35, 50, acquired(["b", 8])],
    ],
    [
      HELD,
      [release(5), 20, 30, "unknown"],
      [guarded(5), 25, 60, written(9)],
      [acquire("b"), 35, 50, acquired(["b", 8])],
    ],
    "no hold beside",
  ],
  [
    "a guarded write takes effect before the hold expires",
    [HELD, [guarded(5), 1_500, 1_510, written(6)], [change(5), 1_520, 1_530, refused("LOCK_LOST")]],
    [HELD, [change(5), 1_520, 1_530, refused("LOCK_LOST")], [guarded(5), 1_540, 1_550, written(6)]],
    "never live again",
  ],
  [
    "a guarded write takes effect after the grant",
    [HELD, [guarded(5), 5, 20, written(6)]],
    [HELD, [guarded(5), 5, 20, written(4)]],
    "within the life of its hold",
  ],
  [
    "a hold for reading guards nothing",
    [READ, [guarded(5), 20, 30, refused("FENCED")]],
    [READ, [guarded(5), 20, 30, written(6)]],
    "only a hold for writing guards writes",
  ],
  [
    "a hold that was given back was live until then",
    [HELD, [describeIt, 12, 40, described(viewAt(6, [["a", 5]]))], [release(5), 20, 30, released(7)]],
    [HELD, [describeIt, 12, 40, described(viewAt(6, []))], [release(5), 20, 30, released(8)]],
    "never live again",
  ],
  [
    "no hold is gone before its time",
    [HELD, [guarded(5), 990, 1_001, refused("FENCED")]],
    [HELD, [guarded(5), 980, 999, refused("FENCED")]],
    "no hold ends before its time",
  ],
  [
    "no hold is gone before its time, as other clients see it",
    [HELD, [describeIt, 990, 1_001, described(viewAt(6, []))]],
    [HELD, [describeIt, 980, 999, described(viewAt(6, []))]],
    "no hold ends before its time",
  ],
  [
    "a hold may end before its time by force",
    [HELD, [force(5), 20, 30, "unknown"], [guarded(5), 40, 50, refused("FENCED")]],
    [HELD, [force(5), 20, 30, refused("ACCESS_DENIED")], [guarded(5), 40, 50, refused("FENCED")]],
    "no hold ends before its time",
  ],
  [
    "a release by force does not explain the end of a later hold",
    [FORCED, HELD_LATER, [force(0), 35, 90, "unknown"], [guarded(5), 40, 50, refused("FENCED")]],
    [FORCED, HELD_LATER, [guarded(5), 40, 50, refused("FENCED")]],
    "no hold ends before its time",
  ],
  [
    "a hold may be undone by another attempt of its own request",
    [
      [acquire("a"), 0, 10, { ...acquired(["a", 5]), isRepeated: true } as LockLine[3]],
      [guarded(5), 40, 50, refused("FENCED")],
    ],
    [HELD, [guarded(5), 40, 50, refused("FENCED")]],
    "no hold ends before its time",
  ],
  [
    "the time of a hold counts from its grant",
    [
      HELD,
      [acquire("b", "exclusive", 5_000), 5, 510, acquired(["b", 7], [], 500)],
      [release(5), 500, 505, released(6)],
      [change(7), 1_400, 1_510, refused("LOCK_LOST")],
    ],
    [
      HELD,
      [acquire("b", "exclusive", 5_000), 5, 510, acquired(["b", 7], [], 500)],
      [release(5), 500, 505, released(6)],
      [change(7), 1_400, 1_450, refused("LOCK_LOST")],
    ],
    "no hold ends before its time",
  ],
  [
    "a renewal starts a new TTL, also a shorter one",
    [
      HELD,
      [change(5, "exclusive", 100), 20, 30, acquired(["a", 5], [], 0, 6)],
      [guarded(5), 110, 125, refused("FENCED")],
    ],
    [
      HELD,
      [change(5, "exclusive", 5_000), 20, 30, acquired(["a", 5], [], 0, 6)],
      [guarded(5), 2_000, 2_010, refused("FENCED")],
    ],
    "no hold ends before its time",
  ],
  [
    "an expired hold is gone soon",
    [HELD, [guarded(5), 3_005, 3_015, written(6)]],
    [HELD, [guarded(5), 3_015, 3_020, written(6)]],
    "is gone soon",
  ],
  [
    "a hold that no answer shows may end at any time",
    [
      [acquire("a"), 0, 10, "unknown"],
      [describeIt, 20, 30, described(viewAt(5, [["a", 5]]))],
      [describeIt, 40, 50, described(viewAt(6, []))],
    ],
    [
      [acquire("a"), 0, 10, "unknown"],
      [describeIt, 20, 30, described(viewAt(5, [["a", 5]]))],
      [describeIt, 40, 50, described(viewAt(6, []))],
      [describeIt, 60, 70, described(viewAt(7, [["a", 5]]))],
    ],
    "never live again",
  ],
];

describe("the judgement of locks", () => {
  for (const [rule, good, bad, said] of HISTORIES) {
    it(`${rule}: passes what keeps to it`, () => {
      expect(judged(good)).to.equal("");
    });
    it(`${rule}: finds what does not`, () => {
      expect(judged(bad)).to.contain(said);
    });
  }

  it("allows for what the clocks differ by", () => {
    const early: readonly LockLine[] = [HELD, [guarded(5), 980, 995, refused("FENCED")]];
    expect(judged(early)).to.contain("no hold ends before its time");
    expect(judged(early, { ...LIMITS, clockDrift: 0.01 })).to.equal("");
    expect(judged(early, { ...LIMITS, clockResolutionMs: 10 })).to.equal("");
  });

  it("lets holds be late while there is no leader", () => {
    const late: readonly LockLine[] = [HELD, [guarded(5), 4_000, 4_010, written(6)]];
    expect(judged(late)).to.contain("is gone soon");
    expect(judged(late, { ...LIMITS, leaderless: [{ fromMs: 500, toMs: 2_000 }] })).to.equal("");
  });

  it("lets a hold live as long as its session, and no other hold beside it", () => {
    const held: LockLine = [acquireIn(2, "a"), 0, 10, acquired(["a", 5])];
    const seen: LockLine = [describeIt, 9_000, 9_010, described(viewAt(8, [["a", 5]]))];
    const gone: LockLine = [describeIt, 20, 30, described(viewAt(8, []))];
    expect(judged([held, seen])).to.equal("");
    expect(judged([held, gone])).to.equal("");
    const next = (token: number): LockLine => [acquireIn(3, "b"), 9_020, 9_030, acquired(["b", token])];
    expect(judged([held, seen, next(9)])).to.equal("");
    expect(judged([held, seen, next(8)]))
      .to.contain("5 was live at 8")
      .and.to.contain("no hold beside");
    expect(judged([held, [acquireIn(3, "b"), 20, 30, acquired(["b", 4])]])).to.contain("revisions never go backwards");
  });

  it("judges each lock by itself, and the order of revisions over all", () => {
    const other: LockLine = [{ ...acquire("b"), lock: "m" }, 20, 30, acquired(["b", 6])];
    expect(judged([HELD, other])).to.equal("");
    const older: LockLine = [{ ...acquire("b"), lock: "m" }, 20, 30, acquired(["b", 4])];
    expect(judged([HELD, older])).to.contain("revisions never go backwards");
  });
});
