import { expect } from "chai";
import {
  absent,
  created,
  deleted,
  found,
  get,
  historyOf,
  type Line,
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
const LIMITS: ExpiryLimits = { clockDrift: 0.01, lateMsMax: EXPIRY_LATE_MS_MAX, leaderless: [] };

function shortPut(value: string): KeyOperation {
  return { kind: "put", key: "k", value, ttlMs: TTL_MS };
}

/** What both oracles say: how many of them find the history wrong. */
function violations(lines: readonly Line[], limits: ExpiryLimits = LIMITS): number {
  const operations = withExpiries(historyOf(...lines), limits);
  return judgeHistory(operations, { nowMs: () => 0, limitMs: SEARCH_LIMIT_MS }).length;
}

/** What both must say: the good history is right, the bad one is wrong. */
const HISTORIES: readonly (readonly [rule: string, good: readonly Line[], bad: readonly Line[]])[] = [
  [
    "a key goes when its time is up, and not before",
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
    "a key whose time is up is gone soon",
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
    "a key whose time is up is created anew",
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
    "a key whose time was up does not come back",
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
    "a put without time to live takes an earlier one away",
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
    "a put sets the time anew",
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

describe("keys whose time is limited", () => {
  for (const [rule, good, bad] of HISTORIES) {
    it(`${rule}: passes what keeps to it`, () => {
      expect(violations(good)).to.equal(0);
    });
    it(`${rule}: both oracles find what does not`, () => {
      expect(violations(bad)).to.equal(2);
    });
  }

  it("have ended for whoever deletes later, which the search finds", () => {
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
});
