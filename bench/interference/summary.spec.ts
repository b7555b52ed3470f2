import { expect } from "chai";
import { summarize } from "./summary.ts";

const NOTHING = { puts: 0, p50Ms: 0, p99Ms: 0, maxMs: 0, p99Ratio: null };

describe("puts that met other work", () => {
  it("are those that were under way meanwhile, and the others are calm", () => {
    const puts = [
      { sentMs: 0, answeredMs: 9 },
      { sentMs: 2, answeredMs: 10 },
      { sentMs: 11, answeredMs: 19 },
      { sentMs: 16, answeredMs: 21 },
      { sentMs: 20, answeredMs: 24 },
      { sentMs: 21, answeredMs: 25 },
    ];
    const [calm, snapshot, log, rocks] = summarize(puts, [
      { work: "snapshot", startMs: 10, endMs: 12 },
      { work: "log", startMs: 12, endMs: 20 },
      { work: "log", startMs: 13, endMs: 14 },
    ]);
    expect(calm).to.deep.equal({ work: null, episodes: 0, puts: 2, p50Ms: 4, p99Ms: 9, maxMs: 9, p99Ratio: null });
    const ofSnapshot = { puts: 2, p50Ms: 8, p99Ms: 8, maxMs: 8, p99Ratio: 8 / 9 };
    expect(snapshot).to.deep.equal({ work: "snapshot", episodes: 1, ...ofSnapshot });
    const ofLog = { puts: 2, p50Ms: 4, p99Ms: 5, maxMs: 5, p99Ratio: 5 / 9 };
    expect(log, "without those that met the snapshot").to.deep.equal({ work: "log", episodes: 2, ...ofLog });
    expect(rocks).to.deep.equal({ work: "rocks", episodes: 0, ...NOTHING });
  });

  it("have no ratio where no put was calm", () => {
    const rows = summarize([{ sentMs: 0, answeredMs: 9 }], [{ work: "rocks", startMs: 0, endMs: 12 }]);
    expect(rows.map(({ puts, p99Ratio }) => [puts, p99Ratio])).to.deep.equal([
      [0, null],
      [0, null],
      [0, null],
      [1, null],
    ]);
  });
});
