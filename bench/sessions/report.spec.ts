import { expect } from "chai";
import { jsonReport, loadBetween, markdownReport, type SessionsReport, terminalReport } from "./report.ts";

const CALLS = { calls: 720, renewed: 360_000, rateLimited: 1, failed: 2, overdue: 0 };
const PUTS = { count: 1_800, failed: 0, p50Ms: 2, p99Ms: 8, maxMs: 11 };

const REPORT: SessionsReport = {
  startedAt: new Date(0),
  version: "0.1.0",
  cpus: 2,
  syncMs: 1,
  options: { sessions: 20_000, ttlSeconds: 10, seconds: 60, elections: 10 },
  namespaces: 1,
  phases: [
    { name: "renewals", seconds: 60, calls: CALLS, load: { leader: 1, cpuMs: [20, 41.6, 19], entries: 12.25 } },
    { name: "10 elections", seconds: 71.04, calls: { ...CALLS, overdue: 500 }, load: null },
  ],
  early: 3,
  lateness: { count: 10_000, p50Ms: 200, p99Ms: 420, maxMs: 480 },
  deadlinesMs: 700,
  allGoneMs: 1_100,
  cpuMsBefore: 250,
  cpuMsMeanwhile: 1_600.4,
  putsBefore: PUTS,
  putsMeanwhile: { ...PUTS, count: 300, p99Ms: 12 },
};

describe("the report on sessions", () => {
  it("has a table of renewals, one of ends, and one of the puts beside them", () => {
    const lines = markdownReport(REPORT).split("\n");
    expect(lines).to.include("| renewals | 60.0 | 720 | 360000 | 1 | 2 | 0 | 12.3 | 20, 42 (leader), 19 |");
    expect(lines).to.include("| 10 elections | 71.0 | 720 | 360000 | 1 | 2 | 500 |  |  |");
    expect(lines).to.include("| 10000 | 700 | 1100 | 200 | 420 | 480 |");
    expect(lines).to.include("| before | 1800 | 0 | 2.0 | 8.0 | 11.0 |  | 250 |");
    expect(lines).to.include("| while sessions end | 300 | 0 | 2.0 | 12.0 | 11.0 | 1.50× | 1600 |");
    expect(terminalReport(REPORT)).to.include("1.50×").and.to.include("20000 sessions of 10 s in 1 namespaces");
  });

  it("says what must not be", () => {
    const verdict = "Sessions that ended early: 3. Sessions that were not renewed in time: 500.";
    expect(markdownReport(REPORT)).to.include(verdict);
  });

  it("is complete as JSON", () => {
    const figures = { format: 1, ...REPORT, startedAt: REPORT.startedAt.toISOString() };
    expect(JSON.parse(jsonReport(REPORT))).to.deep.equal(figures);
  });

  it("marks unknown figures", () => {
    const [phase] = REPORT.phases;
    const load = { leader: 0, cpuMs: null, entries: 1 };
    const putsBefore = { ...PUTS, count: 0, p99Ms: 0 };
    const phases = [{ ...phase, load } as typeof phase & object];
    const text = markdownReport({ ...REPORT, phases, putsBefore, cpuMsMeanwhile: null });
    expect(text).to.include("| 1.0 | ? |").and.to.include("| 11.0 | ? | ? |");
  });
});

describe("the work of members", () => {
  const before = { leader: 1, cpuMs: [100, 200, 300], entries: 1_000 };

  it("is that of one second", () => {
    const after = { leader: 1, cpuMs: [300, 600, 400], entries: 1_030 };
    expect(loadBetween(before, after, 2)).to.deep.equal({ leader: 1, cpuMs: [100, 200, 50], entries: 15 });
  });

  it("is unknown without the processor time, or with another leader", () => {
    expect(loadBetween(before, { ...before, cpuMs: null }, 2)?.cpuMs).to.equal(null);
    expect(loadBetween({ ...before, cpuMs: null }, before, 2)?.cpuMs).to.equal(null);
    expect(loadBetween(before, { ...before, leader: 2 }, 2)).to.equal(null);
  });
});
