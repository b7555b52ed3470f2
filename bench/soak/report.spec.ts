import { expect } from "chai";
import { markdownReport, picture, type SoakReport, terminalReport } from "./report.ts";
import type { SoakSample } from "./samples.ts";

const MIB = 1_024 * 1_024;
const TREND = { name: "resident MiB", second: 180, last: 184.25, perHour: 6.375 };

const REPORT: SoakReport = {
  startedAt: new Date("2030-01-02T03:04:05Z"),
  version: "1.2.3",
  cpus: 2,
  syncMs: 0.25,
  seconds: 600,
  failure: null,
  events: [{ name: "leader killed", atSeconds: 90, seconds: 3.5, isFault: true, note: "q-0, and q-1 leads" }],
  processes: [
    { at: 2, trends: [TREND] },
    { at: null, trends: [{ ...TREND, perHour: -3 }] },
  ],
  calls: [
    {
      kind: "put",
      count: 6_000,
      failed: 3,
      p50: { name: "p50 ms", second: 2, last: 3, perHour: 9 },
      p99: { name: "p99 ms", second: 8, last: null, perHour: null },
      maxMs: 2_345.6,
    },
  ],
  skipped: {},
};

describe("the report of a load", () => {
  it("has a row for each figure, each call and each event", () => {
    const lines = markdownReport(REPORT).split("\n");
    expect(lines).to.include("| q-2 | resident MiB | 180.0 | 184.3 | +6.4 |");
    expect(lines).to.include("| clients | resident MiB | 180.0 | 184.3 | -3.0 |");
    expect(lines).to.include("| put | 6000 | 3 | 2.0 | 3.0 | 8.0 | ? | ? | 2346 |");
    expect(lines).to.include("| leader killed | 1.5 | 3.5 | q-0, and q-1 leads |");
    expect(lines.join("\n")).to.include("10.0 min, 10 calls a second").and.to.include("every acknowledged change");
    expect(terminalReport(REPORT)).to.include("+6.4").and.to.include("leader killed");
  });

  it("says why the load failed, and what was not done", () => {
    const text = markdownReport({ ...REPORT, failure: "key-1 is missing", skipped: { append: 4 } });
    expect(text).to.include("FAILED: key-1 is missing. Not done, because everything was in use: append 4.");
    expect(text).not.to.include("every acknowledged change");
  });

  it("has a picture of memory and times, with the events", () => {
    const sample = (atSeconds: number): SoakSample => ({
      atSeconds,
      members: [null, null, null],
      clients: { residentBytes: 200 * MIB, heapBytes: 50 * MIB },
      calls: { put: { count: 10, failed: 0, p50Ms: 2, p99Ms: 20 } },
    });
    const svg = picture(REPORT, [10, 20, 30].map(sample));
    expect(svg).to.include("quoin 1.2.3 under load").and.to.include("leader killed");
    const drawn = [...svg.matchAll(/<path d="([^"]*)" fill="none"/g)].map(([, path]) => path !== "");
    // Three silent members and the clients; puts, and five kinds of calls that there were none of.
    expect(drawn).to.deep.equal([false, false, false, true, true, false, false, false, false, false]);
    expect(svg).not.to.match(/NaN|Infinity/);
  });
});
