import { expect } from "chai";
import { describeResult, isPassed, type NemesisResult } from "./report.ts";

const FAULT = { kind: "kill: leader", startMs: 1, endMs: 2, result: "landed", evidence: "gone" } as const;
const RESULT: NemesisResult = {
  ...{ seed: 1, members: 3, durationMs: 60_000, operations: 10, acknowledgedWrites: 5, unknown: 1, failed: 2 },
  ...{ writeGapMs: 100, faults: [FAULT], missing: [], lacking: [], violations: [], output: "there" },
};

describe("the report of a nemesis run", () => {
  it("passes a run in which everything planned has landed and nothing was wrong", () => {
    expect(isPassed(RESULT)).to.equal(true);
    expect(describeResult(RESULT)).to.contain("violations 0  passed");
  });

  it("passes no run with a violation, with a planned fault that never landed, or without operations", () => {
    const failed: readonly Partial<NemesisResult>[] = [
      { violations: ["states differ"] },
      { missing: ["disk full"] },
      { operations: 0 },
    ];
    for (const change of failed) {
      expect(isPassed({ ...RESULT, ...change }), JSON.stringify(change)).to.equal(false);
      expect(describeResult({ ...RESULT, ...change })).to.contain("FAILED");
    }
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
