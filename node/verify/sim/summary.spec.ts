import { expect } from "chai";
import { Summary, type Tally } from "./summary.ts";

const ONE: Tally = {
  virtualMs: 7_000_000,
  cpuMs: 500,
  events: 30_000,
  counts: { entries: 10, faults: 3 },
  reached: new Map([
    ["a.mark", 2],
    ["follower reads Vote", 1],
  ]),
};
const OTHER: Tally = {
  virtualMs: 200_000,
  cpuMs: 1_500,
  events: 70_000,
  counts: { entries: 5, faults: 0, snapshots: 2 },
  reached: new Map([["a.mark", 5]]),
};

describe("the summary of many runs", () => {
  it("is the sum of their results, in any order", () => {
    for (const tallies of [
      [ONE, OTHER],
      [OTHER, ONE],
    ]) {
      const summary = new Summary();
      for (const tally of tallies) {
        summary.add(tally);
      }
      expect([...summary.reached].sort()).to.deep.equal([
        ["a.mark", 7],
        ["follower reads Vote", 1],
      ]);
      const lines = summary.describe().split("\n");
      expect(lines.slice(0, 4)).to.deep.equal([
        "runs           2",
        "virtual time   7200 s (2.0 h)",
        "CPU time       2 s, 1.00 s a run",
        "events         100000, 50000 per second of CPU time",
      ]);
      expect(lines[4]).to.equal("lived through  entries 15  faults 3  snapshots 2");
    }
  });

  it("is empty without runs", () => {
    expect(new Summary().describe()).to.contain("runs           0\n").and.not.to.contain("NaN");
  });
});
