import { expect } from "chai";
import type { PutDelays } from "../members/index.ts";
import { jsonReport, type Measured, markdownReport, type ScaleReport, terminalReport } from "./report.ts";

const MIB = 1_024 * 1_024;
const PROBE: PutDelays = { count: 100, failed: 0, p50Ms: 4, p99Ms: 21.55, maxMs: 40.2 };
const NONE: Measured = {
  growth: [],
  probeAlone: null,
  backup: null,
  replacement: null,
  restartOneMs: null,
  restartAllMs: null,
  afterRestart: null,
  burdens: [],
};
const FOOTPRINT = {
  residentBytes: [200 * MIB, 210 * MIB, 220 * MIB],
  logBytes: [64 * MIB, 64 * MIB, 64 * MIB],
  stateBytes: [300 * MIB, 300 * MIB, 301 * MIB],
};

function reportOf(measured: Partial<Measured>, failure: string | null = null): ScaleReport {
  return {
    startedAt: new Date("2030-01-02T03:04:05Z"),
    version: "1.2.3",
    cpus: 2,
    syncMs: 0.25,
    options: { keys: 2_000_000, valueBytes: 100, inFlight: 16 },
    failure,
    measured: { ...NONE, ...measured },
  };
}

describe("the report of many keys", () => {
  it("has a row for each step of the growth", () => {
    const row = { keys: 1_000_000, putsPerSecond: 20_123.4, probe: PROBE, ...FOOTPRINT };
    const report = reportOf({ growth: [row] });
    const cells = "1,000,000 | 20,123 | 4.0 | 21.6 | 40 | 200 / 210 / 220 | 64 / 64 / 64 | 300 / 300 / 301";
    expect(markdownReport(report)).to.include(`| ${cells} |`).and.to.include("Everything was measured.");
    expect(terminalReport(report)).to.include("20,123");
    expect(JSON.parse(jsonReport(report)).measured.growth[0].putsPerSecond).to.equal(20_123.4);
  });

  it("has what happens then, and whether the new member needed a snapshot", () => {
    const replacement = { ms: 30_000, snapshots: 1, snapshotSeconds: 20, stateBytes: 300 * MIB, probe: PROBE };
    const measured = {
      probeAlone: PROBE,
      backup: { seconds: 10, bytes: 160 * MIB, probe: PROBE },
      replacement,
      restartOneMs: 2_500,
      restartAllMs: 4_000,
      afterRestart: FOOTPRINT,
    };
    const lines = markdownReport(reportOf(measured)).split("\n");
    expect(lines).to.include("| backup | 10.0 | 160.0 | 16.0 | 4.0 | 21.6 | 40 |  |");
    expect(lines).to.include("| new member | 30.0 |  |  | 4.0 | 21.6 | 40 |  |");
    expect(lines).to.include("| its snapshot | 20.0 | 300.0 | 15.0 |  |  |  |  |");
    expect(lines).to.include("| start of all three | 4.0 |  |  |  |  |  | 200 / 210 / 220 |");
    const without = { ...measured, replacement: { ...replacement, snapshots: 0, snapshotSeconds: 0 } };
    expect(markdownReport(reportOf(without))).to.include("| no snapshot: the log had everything |");
  });

  it("has the growth at rest with each kind", () => {
    const alone = {
      name: "keys alone",
      count: 0,
      makeSeconds: 0,
      residentBytes: [200 * MIB, 200 * MIB],
      cpuMsPerSecond: [13, 9],
    };
    const locks = {
      name: "held locks",
      count: 1_024,
      makeSeconds: 2.5,
      residentBytes: [202 * MIB, 201 * MIB],
      cpuMsPerSecond: [14, 9.5],
    };
    const lines = markdownReport(reportOf({ burdens: [alone, locks] })).split("\n");
    expect(lines).to.include("| keys alone | 0.0 | 200 / 200 |  |  | 13.0 / 9.0 |  |");
    expect(lines).to.include("| 1,024 held locks | 2.5 | 202 / 201 | 2 / 1 | 2048 / 1024 | 14.0 / 9.5 | 1.0 / 0.5 |");
  });

  it("says why it ended early, with what was measured until then", () => {
    const text = markdownReport(reportOf({ probeAlone: PROBE }, "stopped before the backup: the disk is small"));
    expect(text).to.include("ENDED EARLY: stopped before the backup: the disk is small.");
    expect(text).to.include("nothing else");
  });
});
