import { expect } from "chai";
import {
  absent,
  created,
  deleted,
  found,
  get,
  historyOf,
  type Line,
  NOT_EXECUTED,
  overwritten,
  put,
  remove,
  UNKNOWN,
} from "./example.ts";
import { EXPIRY_LATE_MS_MAX, type ExpiryLimits, withExpiries } from "./expiries.ts";
import type { KeyOperation } from "./history.ts";
import { judgeHistory } from "./judgement.ts";
import { SEARCH_LIMIT_MS } from "./search.ts";

const TTL_MS = 1_000;
const LIMITS: ExpiryLimits = { clockDrift: 0.01, clockResolutionMs: 0, lateMsMax: EXPIRY_LATE_MS_MAX, leaderless: [] };

function shortPut(value: string): KeyOperation {
  return { kind: "put", key: "k", value, ttlMs: TTL_MS };
}

/** The number of oracles (of the two) that find the history wrong. */
function violations(lines: readonly Line[], limits: ExpiryLimits = LIMITS): number {
  const operations = withExpiries(historyOf(...lines), limits);
  return judgeHistory(operations, { nowMs: () => 0, limitMs: SEARCH_LIMIT_MS }).length;
}

/** For each rule, both oracles must pass the good history and find the bad one wrong. */
const HISTORIES: readonly (readonly [rule: string, good: readonly Line[], bad: readonly Line[]])[] = [
  [
    "a key expires when its TTL is over, and not before",
    [
      [shortPut("a"), 0, 10, created(2)],
      [get(), 980, 995, absent],
    ],
    [
      [shortPut("a"), 0, 10, created(2)],
      [get(), 970, 985, absent],
    ],
  ],
  [
    "an expired key is gone soon",
    [
      [shortPut("a"), 0, 10, created(2)],
      [get(), 3_010, 3_030, found("a", [2, 2, 1])],
    ],
    [
      [shortPut("a"), 0, 10, created(2)],
      [get(), 3_030, 3_040, found("a", [2, 2, 1])],
    ],
  ],
  [
    "an expired key is created again",
    [
      [shortPut("a"), 0, 10, created(2)],
      [put("b"), 3_030, 3_040, created(4)],
    ],
    [
      [shortPut("a"), 0, 10, created(2)],
      [put("b"), 3_030, 3_040, overwritten(4)],
    ],
  ],
  [
    "a key ends once",
    [
      [shortPut("a"), 0, 10, created(2)],
      [get(), 1_500, 1_510, absent],
      [put("b"), 1_520, 1_530, created(4)],
      [get(), 1_540, 1_550, found("b", [4, 4, 1])],
    ],
    [
      [shortPut("a"), 0, 10, created(2)],
      [get(), 1_500, 1_510, absent],
      [put("b"), 1_520, 1_530, created(4)],
      [get(), 1_540, 1_550, absent],
    ],
  ],
  [
    "an expired key does not come back",
    [
      [shortPut("a"), 0, 10, created(2)],
      [get(), 1_500, 1_510, found("a", [2, 2, 1])],
      [get(), 1_520, 1_530, absent],
    ],
    [
      [shortPut("a"), 0, 10, created(2)],
      [get(), 1_500, 1_510, absent],
      [get(), 1_520, 1_530, found("a", [2, 2, 1])],
    ],
  ],
  [
    "a key that was overwritten unseen before its TTL was over lives on",
    [
      [put("a"), 0, 10, created(2)],
      [shortPut("b"), 20, 30, overwritten(3)],
      [put("c"), 40, 50, UNKNOWN],
      [put("d"), 5_000, 5_010, overwritten(5)],
      [get(), 5_020, 5_030, found("d", [2, 5, 4])],
    ],
    [
      [put("a"), 0, 10, created(2)],
      [shortPut("b"), 20, 30, overwritten(3)],
      [put("c"), 40, 50, UNKNOWN],
      [put("d"), 5_000, 5_010, overwritten(5)],
      [get(), 5_020, 5_030, found("d", [2, 5, 5])],
    ],
  ],
  [
    "so does one whose creation no answer has shown",
    [
      [put("a"), 0, 10, UNKNOWN],
      [shortPut("b"), 20, 30, overwritten(3)],
      [get(), 32, 34, found("b", [2, 3, 2])],
      [put("c"), 40, 50, UNKNOWN],
      [put("d"), 5_000, 5_010, overwritten(5)],
      [get(), 5_020, 5_030, found("d", [2, 5, 4])],
    ],
    [
      [put("a"), 0, 10, UNKNOWN],
      [shortPut("b"), 20, 30, overwritten(3)],
      [get(), 32, 34, found("b", [2, 3, 2])],
      [put("c"), 40, 50, UNKNOWN],
      [put("d"), 5_000, 5_010, overwritten(5)],
      [get(), 5_020, 5_030, found("d", [2, 5, 6])],
    ],
  ],
  [
    "a put without a TTL removes an earlier one",
    [
      [shortPut("a"), 0, 10, created(2)],
      [put("b"), 20, 30, overwritten(3)],
      [get(), 9_000, 9_010, found("b", [2, 3, 2])],
    ],
    [
      [shortPut("a"), 0, 10, created(2)],
      [put("b"), 20, 30, overwritten(3)],
      [get(), 9_000, 9_010, absent],
    ],
  ],
  [
    "a put starts the TTL again",
    [
      [shortPut("a"), 0, 10, created(2)],
      [shortPut("b"), 900, 910, overwritten(3)],
      [get(), 1_850, 1_880, found("b", [2, 3, 2])],
    ],
    [
      [shortPut("a"), 0, 10, created(2)],
      [shortPut("b"), 900, 910, overwritten(3)],
      [get(), 1_850, 1_880, absent],
    ],
  ],
  [
    "a write of unknown outcome ends too, and not before its time",
    [
      [put("a"), 0, 10, created(2)],
      [shortPut("u"), 20, 30, UNKNOWN],
      [get(), 40, 50, found("u", [2, 3, 2])],
      [get(), 1_500, 1_510, absent],
    ],
    [
      [put("a"), 0, 10, created(2)],
      [shortPut("u"), 20, 30, UNKNOWN],
      [get(), 40, 50, found("u", [2, 3, 2])],
      [get(), 900, 910, absent],
    ],
  ],
];

describe("keys with a TTL", () => {
  for (const [rule, good, bad] of HISTORIES) {
    it(`${rule}: passes what keeps to it`, () => {
      expect(violations(good)).to.equal(0);
    });
    it(`${rule}: both oracles find what does not`, () => {
      expect(violations(bad)).to.equal(2);
    });
  }

  it("have ended before a later delete, which the search finds", () => {
    const lines: readonly Line[] = [
      [shortPut("a"), 0, 10, created(2)],
      [get(), 1_500, 1_510, absent],
      [remove(), 1_520, 1_530, absent],
    ];
    expect(violations(lines)).to.equal(0);
    expect(violations([...lines.slice(0, 2), [remove(), 1_520, 1_530, deleted(4)]])).to.equal(1);
  });

  it("may be late by the time without a leader", () => {
    const late: readonly Line[] = [
      [shortPut("a"), 0, 10, created(2)],
      [get(), 4_000, 4_010, found("a", [2, 2, 1])],
    ];
    expect(violations(late, { ...LIMITS, leaderless: [{ fromMs: 500, toMs: 2_100 }] })).to.equal(0);
    expect(violations(late, { ...LIMITS, leaderless: [{ fromMs: 0, toMs: 900 }] })).to.equal(2);
    expect(violations(late, { ...LIMITS, leaderless: [{ fromMs: 3_500, toMs: 9_000 }] })).to.equal(2);
  });

  it("may be late by the time without a leader before their time is up too, but not before they are written", () => {
    const late = (startMs: number): readonly Line[] => [
      [shortPut("a"), 500, 510, created(2)],
      [get(), startMs, startMs + 10, found("a", [2, 2, 1])],
    ];
    // From the end of the put: 1,010 ms of TTL, 390 ms of it without a leader, and 2,000 ms of lateness.
    const leaderless = [{ fromMs: 0, toMs: 900 }];
    expect(violations(late(3_900), { ...LIMITS, leaderless })).to.equal(0);
    expect(violations(late(3_920), { ...LIMITS, leaderless })).to.equal(2);
  });

  it("may be late for ever if it is not known whether there was a leader", () => {
    const leaderless = [{ fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY }];
    const late: readonly Line[] = [
      [shortPut("a"), 0, 10, created(2)],
      [get(), 900_000, 900_010, found("a", [2, 2, 1])],
    ];
    expect(violations(late, { ...LIMITS, leaderless })).to.equal(0);
    expect(violations([...late, [get(), 980, 985, absent]], { ...LIMITS, leaderless })).to.equal(2);
  });
});

/** The recorder's clock is the cluster's, which counts whole milliseconds. */
const ONE_CLOCK: ExpiryLimits = {
  clockDrift: 0,
  clockResolutionMs: 1,
  lateMsMax: EXPIRY_LATE_MS_MAX,
  leaderless: [{ fromMs: 500, toMs: 8_000 }],
};

/** A key with a TTL of one second that is put once, and read. */
const RIGHT: readonly (readonly [name: string, lines: readonly Line[]])[] = [
  [
    "is there for its time, then gone for good",
    [
      [get(), 0, 3, absent],
      [shortPut("a"), 5, 15, created(2)],
      [get(), 20, 30, found("a", [2, 2, 1])],
      [get(), 990, 1_010, absent],
      [get(), 1_500, 1_510, absent],
    ],
  ],
  [
    "is gone within the millisecond before its time",
    [
      [shortPut("a"), 5, 15, created(2)],
      [get(), 990, 1_004.5, absent],
    ],
  ],
  [
    "outlives its TTL while there is no leader",
    [
      [shortPut("a"), 5, 15, created(2)],
      [get(), 9_000, 9_010, found("a", [2, 2, 1])],
    ],
  ],
  [
    "comes late, as its outcome is unknown",
    [
      [shortPut("a"), 5, 15, UNKNOWN],
      [get(), 20, 30, absent],
      [get(), 40, 50, found("a", [2, 2, 1])],
    ],
  ],
  [
    "never comes, as its outcome is unknown",
    [
      [shortPut("a"), 5, 15, UNKNOWN],
      [get(), 20, 30, absent],
      [get(), 9_000, 9_001, absent],
    ],
  ],
  [
    "is there while a read fails",
    [
      [shortPut("a"), 5, 15, created(2)],
      [get(), 20, 30, NOT_EXECUTED],
      [get(), 40, 50, found("a", [2, 2, 1])],
    ],
  ],
];

const WRONG: typeof RIGHT = [
  [
    "is gone before its time",
    [
      [shortPut("a"), 5, 15, created(2)],
      [get(), 900, 1_000, absent],
    ],
  ],
  [
    "is gone before its time, and only a read has shown that it was written",
    [
      [shortPut("a"), 5, 15, UNKNOWN],
      [get(), 20, 30, found("a", [2, 2, 1])],
      [get(), 40, 50, absent],
    ],
  ],
  [
    "is back after it was gone",
    [
      [shortPut("a"), 5, 15, created(2)],
      [get(), 1_100, 1_110, absent],
      [get(), 1_120, 1_130, found("a", [2, 2, 1])],
    ],
  ],
  [
    "is there although its put was refused",
    [
      [shortPut("a"), 5, 15, NOT_EXECUTED],
      [get(), 20, 30, found("a", [2, 2, 1])],
    ],
  ],
  [
    "is there before its put",
    [
      [get(), 20, 30, found("a", [2, 2, 1])],
      [shortPut("a"), 40, 50, created(2)],
    ],
  ],
];

describe("a key with a TTL, seen on one machine", () => {
  for (const [name, lines] of RIGHT) {
    it(`is right if it ${name}`, () => {
      expect(violations(lines, ONE_CLOCK)).to.equal(0);
    });
  }
  for (const [name, lines] of WRONG) {
    it(`is wrong to both oracles if it ${name}`, () => {
      expect(violations(lines, ONE_CLOCK)).to.equal(2);
    });
  }
});
