import { expect } from "chai";
import { describeResult, isPassed, type NemesisResult } from "./report.ts";

const FAULT = { kind: "kill: leader", startMs: 1, endMs: 2, result: "landed", evidence: "gone" } as const;
const OUTCOMES = [
  { kind: "put", ok: 5, notExecuted: 2, unknown: 1 },
  { kind: "get", ok: 7, notExecuted: 0, unknown: 0 },
];
const RESULT: NemesisResult = {
  seed: 1,
  members: 3,
  durationMs: 60_000,
  outcomes: OUTCOMES,
  facts: ["streams 3"],
  acknowledgedWrites: 5,
  elections: 4,
  writeGapMs: 1_250,
  faults: [FAULT],
  missing: [],
  unplanned: [],
  lacking: [],
  violations: [],
  output: "there",
};

describe("the report of a nemesis run", () => {
  it("passes a run in which everything planned has landed and nothing was wrong", () => {
    expect(isPassed(RESULT)).to.equal(true);
    expect(describeResult(RESULT)).to.contain("violations 0  passed");
  });

  it("passes no run with a violation, with a planned fault that never landed, or without a write", () => {
    const failed: readonly Partial<NemesisResult>[] = [
      { violations: ["states differ"] },
      { missing: ["disk full"] },
      { acknowledgedWrites: 0 },
    ];
    for (const change of failed) {
      expect(isPassed({ ...RESULT, ...change }), JSON.stringify(change)).to.equal(false);
      expect(describeResult({ ...RESULT, ...change })).to.contain("FAILED");
    }
  });

  it("passes a run that was too short for some kinds, and names them", () => {
    const short = { ...RESULT, unplanned: ["disk full", "kill: all"] };
    expect(isPassed(short)).to.equal(true);
    expect(describeResult(short)).to.contain("the run was too short for: disk full; kill: all");
  });

  it("counts operations by kind and by outcome, elections, and the longest time without a write", () => {
    const text = describeResult(RESULT);
    const rows = text.split("\n").map((line) => line.trim().split(/\s{2,}/));
    expect(rows).to.deep.include(["put", "5", "2", "1"]);
    expect(rows).to.deep.include(["get", "7", "0", "0"]);
    expect(rows).to.deep.include(["all", "12", "2", "1"]);
    expect(text).to.contain("\nstreams 3\n");
    expect(text).to.contain("elections 4  longest time without an acknowledged write 1.3 s");
  });

  it("counts faults by kind and by what was measured", () => {
    const faults = [FAULT, { ...FAULT, result: "unclear" } as const, { ...FAULT, kind: "disk full" }];
    const rows = describeResult({ ...RESULT, faults })
      .split("\n")
      .map((line) => line.trim().split(/\s{2,}/));
    expect(rows).to.deep.include(["kill: leader", "1", "0", "1"]);
    expect(rows).to.deep.include(["disk full", "1", "0", "0"]);
    expect(rows).to.deep.include(["all", "2", "0", "1"]);
  });
});
