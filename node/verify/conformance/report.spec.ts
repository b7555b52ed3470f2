import { expect } from "chai";
import { Report } from "./report.ts";
import { type Outcome, type TestCase, testCasesOf } from "./run.ts";

describe("the report of npm run conformance", () => {
  const nothing = async () => undefined;
  const testCases = testCasesOf(
    [
      { name: "PutKey", entries: { works: nothing } },
      { name: "GetKey", entries: { works: nothing } },
    ],
    2,
  );
  let printed: string[];

  beforeEach(() => {
    printed = [];
  });

  function report(outcomes: readonly Outcome[], some: readonly TestCase[] = testCases): boolean {
    const report = new Report(some, ["a:1", "b:2"], (line) => printed.push(line));
    for (const [at, testCase] of some.entries()) {
      const outcome = outcomes[at] ?? "passed";
      report.add({ testCase, outcome, error: outcome === "passed" ? null : new Error("the reason") });
    }
    return report.finish();
  }

  it("prints each finished table, and ends with the totals", () => {
    expect(report([])).to.equal(true);
    expect(printed).to.deep.equal(["ok PutKey", "ok GetKey", "4 passed, 0 failed"]);
  });

  it("prints where something failed, and why", () => {
    expect(report(["passed", "failed"])).to.equal(false);
    expect(printed[0]).to.match(/^FAILED PutKey: works\n {4}at b:2: Error: the reason/);
    expect(printed.slice(1)).to.deep.equal(["FAILED PutKey", "ok GetKey", "3 passed, 1 failed"]);
  });

  it("prints why something was skipped", () => {
    expect(report(["skipped", "passed", "skipped"])).to.equal(true);
    expect(printed.slice(2)).to.deep.equal(["skipped 2: the reason", "2 passed, 0 failed, 2 skipped"]);
  });

  it("is no success when nothing passed", () => {
    expect(report(["skipped", "skipped", "skipped", "skipped"])).to.equal(false);
    expect(report([], [])).to.equal(false);
  });
});
