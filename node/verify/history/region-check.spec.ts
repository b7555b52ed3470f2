import { expect } from "chai";
import { regionCheck } from "./region-check.ts";
import type { RegionAnswer, RegionOperation, RegionRecord } from "./region-history.ts";

type Line = readonly [RegionOperation, number, number, RegionAnswer | "unknown" | "not-executed"];

function judged(...lines: readonly Line[]): string {
  const records = lines.map(([operation, startMs, endMs, result], id): RegionRecord => {
    const shared = { id, client: `client-${id}`, operation, startMs };
    return typeof result === "string"
      ? { ...shared, endMs: result === "unknown" ? Number.POSITIVE_INFINITY : endMs, outcome: { kind: result } }
      : { ...shared, endMs, outcome: { kind: "ok", answer: result } };
  });
  return regionCheck(records).join("\n");
}

const REGION = "r";
const write = (offset: number, data: string, expectedVersion?: number): RegionOperation => {
  return { kind: "write", region: REGION, offset, data, ...(expectedVersion === undefined ? {} : { expectedVersion }) };
};
const resize = (sizeBytes: number): RegionOperation => ({ kind: "resize", region: REGION, sizeBytes });
const read = (offset: number, length: number): RegionOperation => ({ kind: "read", region: REGION, offset, length });
const free: RegionOperation = { kind: "free", region: REGION };
const written = (version: number, revision: number): RegionAnswer => ({ kind: "written", version, revision });
const shown = (data: string, version: number, sizeBytes: number, revision: number): RegionAnswer => {
  return { kind: "read", data, version, sizeBytes, revision };
};
const resized = (version: number, previousSizeBytes: number, revision: number): RegionAnswer => {
  return { kind: "resized", version, previousSizeBytes, revision };
};
const OUT: RegionAnswer = { kind: "out-of-bounds" };
const ABSENT: RegionAnswer = { kind: "absent" };

/** A region of four bytes at revision 2. */
const MADE: Line = [
  { kind: "allocate", region: REGION, sizeBytes: 4 },
  0,
  10,
  { kind: "allocated", version: 1, revision: 2 },
];
const WRITTEN: Line = [write(1, "aabb"), 20, 30, written(2, 3)];

const HISTORIES: readonly (readonly [rule: string, good: readonly Line[], bad: readonly Line[], said: string])[] = [
  [
    "a region is full of zeros where nothing was written",
    [MADE, WRITTEN, [read(0, 4), 40, 50, shown("00aabb00", 2, 4, 3)]],
    [MADE, WRITTEN, [read(0, 4), 40, 50, shown("00aabbcc", 2, 4, 3)]],
    "shows the bytes of one version",
  ],
  [
    "a read shows what its version is, byte by byte",
    [MADE, WRITTEN, [write(2, "cc"), 20, 90, written(3, 4)], [read(1, 2), 40, 50, shown("aacc", 3, 4, 4)]],
    [MADE, WRITTEN, [write(2, "cc"), 20, 90, written(3, 4)], [read(1, 2), 40, 50, shown("aacc", 2, 4, 3)]],
    "shows the bytes of one version",
  ],
  [
    "a read shows as much as was asked for",
    [MADE, WRITTEN, [read(2, 2), 40, 50, shown("bb00", 2, 4, 3)]],
    [MADE, WRITTEN, [read(2, 2), 40, 50, shown("bb", 2, 4, 3)]],
    "shows the bytes of one version",
  ],
  [
    "a read shows what ended before it began",
    [MADE, WRITTEN, [write(0, "cc"), 35, 60, written(3, 4)], [read(0, 1), 40, 50, shown("00", 2, 4, 3)]],
    [MADE, WRITTEN, [write(0, "cc"), 35, 38, written(3, 4)], [read(0, 1), 40, 50, shown("00", 2, 4, 3)]],
    "versions never go backwards",
  ],
  [
    "versions go up by one with each change",
    [MADE, WRITTEN, [write(0, "cc"), 40, 50, written(3, 4)]],
    [MADE, WRITTEN, [write(0, "cc"), 40, 50, written(4, 5)]],
    "version 3 does not, and no operation can have made it",
  ],
  [
    "a version has one change",
    [MADE, WRITTEN, [write(0, "cc"), 25, 50, written(3, 4)]],
    [MADE, WRITTEN, [write(0, "cc"), 25, 50, written(2, 4)]],
    "a version has one change",
  ],
  [
    "versions and revisions have one order",
    [MADE, WRITTEN, [write(0, "cc"), 25, 50, written(3, 4)]],
    [MADE, [write(1, "aabb"), 20, 30, written(3, 3)], [write(0, "cc"), 25, 50, written(2, 4)]],
    "versions and revisions have one order",
  ],
  [
    "a read stands at a revision of its version",
    [MADE, WRITTEN, [write(0, "cc"), 25, 50, written(3, 5)], [read(0, 1), 40, 50, shown("00", 2, 4, 4)]],
    [MADE, WRITTEN, [write(0, "cc"), 25, 50, written(3, 5)], [read(0, 1), 40, 50, shown("00", 2, 4, 5)]],
    "versions and revisions have one order",
  ],
  [
    "what was cut off does not come back",
    [
      MADE,
      WRITTEN,
      [resize(2), 40, 50, resized(3, 4, 4)],
      [resize(4), 60, 70, resized(4, 2, 5)],
      [read(0, 4), 80, 90, shown("00aa0000", 4, 4, 5)],
    ],
    [
      MADE,
      WRITTEN,
      [resize(2), 40, 50, resized(3, 4, 4)],
      [resize(4), 60, 70, resized(4, 2, 5)],
      [read(0, 4), 80, 90, shown("00aabb00", 4, 4, 5)],
    ],
    "shows the bytes of one version",
  ],
  [
    "the answer to a resize has the size before",
    [MADE, [resize(8), 20, 30, resized(2, 4, 3)]],
    [MADE, [resize(8), 20, 30, resized(2, 5, 3)]],
    "made by #1",
  ],
  [
    "a write of unknown outcome is executed once, or not at all",
    [
      MADE,
      [write(0, "cc"), 20, 30, "unknown"],
      [write(1, "dd"), 40, 50, written(2, 3)],
      [read(0, 2), 60, 70, shown("ccdd", 3, 4, 4)],
    ],
    [
      MADE,
      [write(0, "cc"), 20, 30, "unknown"],
      [write(0, "dd"), 40, 50, written(3, 4)],
      [read(0, 2), 60, 70, shown("cc00", 4, 4, 5)],
    ],
    "version 4 does not",
  ],
  [
    "a write of unknown outcome is executed after it began",
    [MADE, [write(0, "cc"), 20, 30, "unknown"], [read(0, 1), 25, 40, shown("cc", 2, 4, 3)]],
    [MADE, [write(0, "cc"), 50, 60, "unknown"], [read(0, 1), 25, 40, shown("cc", 2, 4, 3)]],
    "version 2 does not",
  ],
  [
    "which of those that are unknown was executed is found",
    [
      MADE,
      [write(0, "cc"), 20, 30, "unknown"],
      [write(0, "dd"), 20, 30, "unknown"],
      [read(0, 1), 60, 70, shown("dd", 2, 4, 3)],
      [read(0, 1), 80, 90, shown("cc", 3, 4, 4)],
    ],
    [
      MADE,
      [write(0, "cc"), 20, 30, "unknown"],
      [write(0, "dd"), 20, 30, "unknown"],
      [read(0, 1), 60, 70, shown("dd", 2, 4, 3)],
      [read(0, 1), 80, 90, shown("dd", 3, 4, 4)],
    ],
    "shows the bytes of one version",
  ],
  [
    "a refused write is never seen",
    [MADE, [write(0, "cc"), 20, 30, "not-executed"], [read(0, 1), 60, 70, shown("00", 1, 4, 2)]],
    [MADE, [write(0, "cc"), 20, 30, "not-executed"], [read(0, 1), 60, 70, shown("cc", 2, 4, 3)]],
    "version 2 does not",
  ],
  [
    "an expected version is that of the change before",
    [MADE, [write(0, "cc", 1), 20, 30, written(2, 3)]],
    [MADE, WRITTEN, [write(0, "cc", 1), 40, 50, written(3, 4)]],
    "version 3 does not",
  ],
  [
    "only another version than the expected one is refused",
    [MADE, WRITTEN, [write(0, "cc", 1), 40, 50, { kind: "version-mismatch" }]],
    [MADE, WRITTEN, [write(0, "cc", 2), 40, 50, { kind: "version-mismatch" }]],
    "is refused",
  ],
  [
    "a write outside of the region is refused",
    [MADE, [write(3, "aabb"), 20, 30, OUT]],
    [MADE, [write(3, "aabb"), 20, 30, written(2, 3)]],
    "version 2 does not",
  ],
  [
    "nothing within the region is refused",
    [MADE, [resize(2), 20, 30, resized(2, 4, 3)], [read(2, 1), 25, 50, OUT]],
    [MADE, [resize(2), 20, 30, resized(2, 4, 3)], [read(1, 1), 25, 50, OUT]],
    "is refused",
  ],
  [
    "what may have been outside by a change of unknown outcome may be refused",
    [MADE, [resize(2), 20, 30, "unknown"], [read(2, 1), 40, 50, OUT]],
    [MADE, [resize(2), 60, 70, "unknown"], [read(2, 1), 40, 50, OUT]],
    "is refused",
  ],
  [
    "a region exists until a client frees it",
    [MADE, [free, 20, 30, "unknown"], [read(0, 1), 40, 50, ABSENT]],
    [MADE, [free, 60, 70, "unknown"], [read(0, 1), 40, 50, ABSENT]],
    "until a client frees it",
  ],
  [
    "a region that was freed is gone for good",
    [MADE, [free, 20, 30, { kind: "freed", revision: 3 }], [read(0, 1), 40, 50, ABSENT]],
    [MADE, [free, 20, 30, { kind: "freed", revision: 3 }], [read(0, 1), 40, 50, shown("00", 1, 4, 3)]],
    "gone for good",
  ],
  [
    "a region that was gone for one is gone for all",
    [MADE, [free, 20, 30, "unknown"], [read(0, 1), 40, 50, shown("00", 1, 4, 2)], [read(0, 1), 60, 70, ABSENT]],
    [MADE, [free, 20, 30, "unknown"], [read(0, 1), 40, 50, ABSENT], [read(0, 1), 60, 70, shown("00", 1, 4, 3)]],
    "gone for good",
  ],
  [
    "a region is freed once",
    [MADE, [free, 20, 30, { kind: "freed", revision: 3 }], [free, 25, 35, ABSENT]],
    [MADE, [free, 20, 30, { kind: "freed", revision: 3 }], [free, 25, 35, { kind: "freed", revision: 4 }]],
    "is freed once",
  ],
  [
    "revisions keep to the times",
    [MADE, WRITTEN],
    [MADE, [write(1, "aabb"), 20, 30, written(2, 2)]],
    "revisions never go backwards",
  ],
];

describe("the judgement of memory regions", () => {
  for (const [rule, good, bad, said] of HISTORIES) {
    it(`${rule}: passes what keeps to it`, () => {
      expect(judged(...good)).to.equal("");
    });
    it(`${rule}: finds what does not`, () => {
      expect(judged(...bad)).to.contain(said);
    });
  }

  it("fails if there are more ways than it can follow", () => {
    const unknown = Array.from({ length: 12 }, (_, at): Line => [write(0, `a${at.toString(16)}`), 20, 30, "unknown"]);
    expect(judged(MADE, ...unknown, [read(0, 1), 60, 70, shown("a1", 9, 4, 10)])).to.contain("undecided");
  });
});
