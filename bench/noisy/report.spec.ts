import { expect } from "chai";
import type { Experience } from "./quiet-tenant.ts";
import { holds, markdownReport, type NoisyRow, ratioOf } from "./report.ts";

function experience(p99Ms: number, others: Partial<Experience> = {}): Experience {
  const delays = { count: 200, p50Ms: 1, p99Ms, maxMs: 50 };
  return { put: delays, get: delays, watch: delays, failed: 0, ...others };
}

function row(fields: Partial<NoisyRow>): NoisyRow {
  const [before, during] = [experience(10), experience(20)];
  const load = { memberCores: 1.44, machineShare: 0.985, turnMsMax: 21.6 };
  return { noise: "gets", did: "10 answered, 0 refused", before, during, load, leaderChanges: 0, ended: 0, ...fields };
}

describe("the report on a quiet tenant", () => {
  it("compares the worst of put, get and watch", () => {
    const during = experience(20, { watch: { count: 200, p50Ms: 1, p99Ms: 25, maxMs: 30 } });
    expect(ratioOf(row({ during }))).to.equal(2.5);
  });

  it("sees the goal missed by an election, by a member that ended, by a failed call, and by a long delay", () => {
    expect(holds(row({}))).to.equal(true);
    for (const fields of [
      { leaderChanges: 1 },
      { ended: 1 },
      { during: experience(20, { failed: 1 }) },
      { during: experience(31) },
    ]) {
      expect(holds(row(fields)), JSON.stringify(fields)).to.equal(false);
    }
  });

  it("is a table with the figures without noise, and the names of the rows in which the goal is missed", () => {
    const report = { startedAt: new Date(0), version: "0.1.0", cpus: 2, options: { seconds: 10 }, syncMs: 1 };
    const text = markdownReport({ ...report, rows: [row({}), row({ noise: "puts", leaderChanges: 2 })] });
    expect(text).to.include("| none | 1.0, 10.0 | 1.0, 10.0 | 1.0, 10.0 |  |  |  |  |  |  |");
    expect(text).to.include("| puts | 1.0, 20.0 | 1.0, 20.0 | 1.0, 20.0 | 2.0× | 1.4 | 99 % | 22 | 0 | 2 |");
    expect(text).to.include("The goal holds in 1 of 2 rows. It does not: puts.");
  });
});
