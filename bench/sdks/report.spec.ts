import { expect } from "chai";
import { jsonReport, markdownReport, type SdksReport, terminalReport } from "./report.ts";

const REPORT: SdksReport = {
  startedAt: new Date(0),
  version: "0.2.0",
  cpus: 2,
  options: { language: "go", seconds: 8, watches: 10_000 },
  cases: [
    {
      measured: { what: "put", inFlight: 64, clients: ["sdk", "bare"] },
      clients: [
        { client: "sdk", perSecond: 5_000.4, cpuUs: 60 },
        { client: "bare", perSecond: 5_100, cpuUs: 50 },
      ],
    },
    {
      measured: { what: "watch", inFlight: 64, clients: ["sdk"] },
      clients: [{ client: "sdk", perSecond: 900, cpuUs: 20 }],
    },
  ],
};

describe("the report of what clients cost", () => {
  it("compares the processor time of the SDK with that of each other client", () => {
    const lines = markdownReport(REPORT).split("\n");
    expect(lines[2]).to.equal("| put | 64 | sdk | 5,000 | 60.0 |  |");
    expect(lines[3]).to.equal("| put | 64 | bare | 5,100 | 50.0 | 1.20× |");
    expect(lines[4]).to.equal("| event of 10000 watches | 64 | sdk | 900 | 20.0 |  |");
    expect(terminalReport(REPORT)).to.include("1.20×");
  });

  it("has everything as JSON", () => {
    expect(JSON.parse(jsonReport(REPORT))).to.deep.equal({ ...REPORT, startedAt: "1970-01-01T00:00:00.000Z" });
  });
});
