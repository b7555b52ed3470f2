import { expect } from "chai";
import { jsonReport, markdownReport, type Report, terminalReport } from "./report.ts";
import type { CaseSummary } from "./summary.ts";

const ASKED: CaseSummary = {
  askedAt: "follower",
  puts: 4,
  total: { p10Us: 1500, p50Us: 2400.4, p99Us: 9000, meanUs: 3000 },
  decisive: [
    { what: "a follower's acknowledgement", puts: 3 },
    { what: "the asked follower's disk", puts: 1 },
  ],
  steps: [
    {
      leg: "first follower",
      step: "the follower has decoded the append",
      kind: "code",
      sinceStep: { p10Us: 9.2, p50Us: 12.6, p99Us: 40 },
      sinceStart: { p10Us: 500, p50Us: 700, p99Us: 1200 },
    },
  ],
  kinds: [{ kind: "disk", meanUs: 1500, share: 0.5, p10Us: 1100, p50Us: 1400, p99Us: 4000 }],
};

const REPORT: Report = {
  startedAt: new Date(0),
  version: "1.2.3",
  members: 3,
  cpus: 2,
  valueBytes: 256,
  syncMs: 0.2,
  syncMsAfter: 0.3,
  cases: [ASKED],
  untraced: { leader: { p10Us: 1200, p50Us: 1900, p99Us: 5000 }, follower: { p10Us: 1400, p50Us: 2300, p99Us: 8800 } },
};

describe("the report of timelines", () => {
  it("has a row for each step, and one for each kind of time", () => {
    const markdown = markdownReport(REPORT);
    expect(markdown).to.contain(
      "| first follower | the follower has decoded the append | 9 | 13 | 40 | 700 | 1200 | our code and turns |\n",
    );
    expect(markdown).to.contain("| disk | 1500 | 50 % | 1100 | 1400 | 4000 |\n");
    const terminal = terminalReport(REPORT);
    expect(terminal).to.match(
      /first follower │ +the follower has decoded the append │ +9 │ +13 │ +40 │ +700 │ +1200 │ +our code and turns/,
    );
  });

  it("names for each case the puts without traces, and the last wait", () => {
    for (const text of [markdownReport(REPORT), terminalReport(REPORT)]) {
      expect(text).to.contain(
        "Asked at a follower: 4 puts, p50 2400 µs, p99 9000 µs; without traces p50 2300 µs, p99 8800 µs. " +
          "The last to wait for: a follower's acknowledgement 75 %, the asked follower's disk 25 %.",
      );
      expect(text).to.contain("1970-01-01T00:00:00.000Z, quoin 1.2.3, 3 members");
    }
  });

  it("has all figures as JSON, with the number of its format", () => {
    expect(JSON.parse(jsonReport(REPORT))).to.deep.equal({
      format: 1,
      ...REPORT,
      startedAt: "1970-01-01T00:00:00.000Z",
    });
  });
});
