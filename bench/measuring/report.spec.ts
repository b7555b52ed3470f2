import { expect } from "chai";
import type { Run } from "./measure.ts";
import { describeRun, doubtsAboutAll, pointTable, ratioTable, rawRun } from "./report.ts";
import { compare, summarize } from "./summary.ts";

const RUN: Run = {
  system: "etcd",
  concurrency: 64,
  operations: 4,
  durationMs: 2000,
  elapsedMs: 2000,
  timings: [{ name: "latency", valuesMs: Float64Array.of(1, 2, 3, 40) }],
  attempts: null,
  memberCpuMs: [4, 8],
  memberMemoryBytesMax: [1024 * 1024, 2048 * 1024],
  leaderMainCpuMs: null,
  memberLoopDelayMs: null,
  generatorCpuMs: 2,
  idleCpuMs: 5,
  otherCpuMs: 400,
  elections: 0,
};

/** A run with two kinds of times, with attempts, of a system that has event loops. */
const FULL: Run = {
  ...RUN,
  durationMs: 500,
  timings: [
    { name: "from sending", valuesMs: Float64Array.of(2, 3) },
    { name: "from answer", valuesMs: Float64Array.of(-1, 1) },
  ],
  attempts: 10,
  leaderMainCpuMs: 0.6,
  memberLoopDelayMs: [12.4, 250, 0],
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
    const table = pointTable([summarize([RUN]), { ...summarize([RUN]), memoryMiBMax: null }], "in flight");
    const [head, known, unknown] = cellsOf(table);
    expect(head).to.deep.equal(
      "in flight,system,operations,per s,p50 ms,p99 ms,max ms,CPU s/1000,leader µs,generator,busy,MiB,loops ms,elections".split(
        ",",
      ),
    );
    const figures = ["64", "etcd", "4", "2", "2.00", "40.00", "40.0", "3.000", "", "0.500", "0 %", "2", "-", "0"];
    expect(known).to.deep.equal(figures);
    expect(unknown?.at(-3)).to.equal("?");
    const ratio = compare(summarize([RUN]), { ...summarize([{ ...RUN, memberCpuMs: null }]), perSecond: 4 });
    expect(cellsOf(ratioTable([ratio], "in flight")).at(-1)).to.deep.equal(["64", "0.50", "1.00", "1.00", "?", "1.00"]);
  });

  it("has columns for each kind of times, for attempts, and for the event loops of all members", () => {
    const point = summarize([FULL]);
    const table = pointTable([point], "watchers");
    for (const head of ["watchers", "from sending", "from answer", "attempts"]) {
      expect(table).to.contain(head);
    }
    const figures = ["64", "etcd", "4", "8", "2.00", "3.00", "3.0", "-1.00", "1.00", "1.0", "2.50", "3.000", "150"];
    expect(cellsOf(table).at(-1)).to.deep.equal([...figures, "0.500", "0 %", "2", "12/250/0", "0"]);
    const ratios = ["64", "1.00", "1.00", "1.00", "?", "1.00", "1.00", "1.00", "1.00", "1.00"];
    expect(cellsOf(ratioTable([compare(point, point)], "watchers")).at(-1)).to.deep.equal(ratios);
  });

  it("describes a run in one line", () => {
    expect(describeRun(RUN, "in flight")).to.equal(
      "64 in flight, etcd: 4 in 2.0 s, 2/s, latency p50 2.00 ms, p99 40.00 ms",
    );
    expect(describeRun(FULL, "watchers")).to.equal(
      "64 watchers, etcd: 4 in 2.0 s, 8/s, from sending p50 2.00 ms, p99 3.00 ms, from answer p50 -1.00 ms, " +
        "p99 1.00 ms, 2.50 attempts each, the leader's main thread 150 µs each, event loops up to 12/250/0 ms late",
    );
  });

  it("reports an election, or busy other processes, because such a run is unreliable", () => {
    expect(describeRun({ ...RUN, elections: 2 }, "")).to.contain("DISTURBED: elections: 2");
    expect(describeRun({ ...RUN, otherCpuMs: 402 }, "")).to.contain("20 % of a CPU");
    expect(describeRun({ ...RUN, otherCpuMs: null }, "")).to.equal(describeRun(RUN, ""));
    expect(doubtsAboutAll([RUN, RUN])).to.equal("");
    expect(doubtsAboutAll([RUN, { ...RUN, otherCpuMs: 402, elections: 1 }])).to.match(/^1 of 2 runs /);
  });

  it("keeps the percentiles of a run, not each of its times", () => {
    const raw = JSON.parse(JSON.stringify(rawRun(RUN)));
    expect(raw).to.not.have.property("timings");
    expect(raw.timingsMs).to.have.length(1);
    expect(raw.timingsMs[0]).to.include({ name: "latency", p0: 1, p50: 2, "p99.9": 40, p100: 40 });
    expect(raw).to.deep.include({ memberCpuMs: [4, 8], idleCpuMs: 5 });
  });
});
