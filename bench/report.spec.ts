import { expect } from "chai";
import type { Run } from "./measure.ts";
import { describeRun, doubtsAboutAll, pointTable, ratioTable, rawRun } from "./report.ts";
import { summarize } from "./summary.ts";

const run: Run = {
  system: "etcd",
  inFlight: 64,
  operations: 4,
  durationMs: 2000,
  latenciesMs: Float64Array.of(1, 2, 3, 40),
  memberCpuMs: [4, 8],
  memberMemoryBytesMax: [1024 * 1024, 2048 * 1024],
  generatorCpuMs: 2,
  idleCpuMs: 5,
  otherCpuMs: 400,
  hasLeaderChanged: false,
};

/** The cells of each row of a table that have digits, by the text of the table. */
function cellsOf(table: string): string[][] {
  const rows = table.split("\n").filter((line) => /[0-9]/.test(line));
  return rows.map((row) =>
    row
      .split("│")
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
}

describe("report of a benchmark", () => {
  it("puts figures into the columns of their names", () => {
    const table = pointTable([summarize([run]), { ...summarize([run]), memoryMiBMax: null }]);
    const [head, known, unknown] = cellsOf(table);
    expect(head).to.include("CPU s/1000");
    expect(known).to.deep.equal(["64", "etcd", "4", "2", "2.00", "40.00", "40.0", "3.000", "0.500", "0 %", "2"]);
    expect(unknown?.at(-1)).to.equal("?");
    const ratio = { inFlight: 64, perSecond: 1.5, p50: 0.25, p99: 2, memberCpu: null, memory: 0.125 };
    expect(cellsOf(ratioTable([ratio])).at(-1)).to.deep.equal(["64", "1.50", "0.25", "2.00", "?", "0.13"]);
  });

  it("says when a leader changed, or other processes were busy, because that run is not what it seems", () => {
    expect(describeRun(run)).to.equal("64 in flight, etcd: 4 in 2.0 s, 2/s, p50 2.00 ms, p99 40.00 ms");
    expect(describeRun({ ...run, hasLeaderChanged: true })).to.contain("leader changed");
    expect(describeRun({ ...run, otherCpuMs: 402 })).to.contain("20 % of a CPU");
    expect(describeRun({ ...run, otherCpuMs: null })).to.equal(describeRun(run));
    expect(doubtsAboutAll([run, run])).to.equal("");
    expect(doubtsAboutAll([run, { ...run, otherCpuMs: 402, hasLeaderChanged: true }])).to.match(/^1 of 2 runs /);
  });

  it("keeps the percentiles of a run, not each of its latencies", () => {
    const raw = JSON.parse(JSON.stringify(rawRun(run)));
    expect(raw).to.not.have.property("latenciesMs");
    expect(raw.latencyMs).to.include({ p0: 1, p50: 2, "p99.9": 40, p100: 40 });
    expect(raw).to.deep.include({ memberCpuMs: [4, 8], idleCpuMs: 5 });
  });
});
