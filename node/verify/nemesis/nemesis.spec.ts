import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { findCapabilities } from "./machine.ts";
import { runNemesis } from "./nemesis.ts";
import { describeResult, isPassed } from "./report.ts";

/** The order of faults is always the same, their exact timing is not. */
const SEED = 7;
const RUN_MS = 12_000;
const KINDS = ["kill: leader", "kill: follower", "pause: any", "partition: leader alone", "partition: halves"];

describe("the nemesis", function () {
  // Usually half a minute: a limit for a busy machine.
  this.timeout(480_000);

  it("kills, pauses and parts three members, and every history stays correct (G1, G2, G3)", async function () {
    if (!(await hasNetwork())) {
      return this.skip();
    }
    const output = temporaryDirectory();
    const result = await runNemesis({
      members: 3,
      runMs: RUN_MS,
      seed: SEED,
      output,
      kinds: KINDS,
      startSdk: null,
      mayInstall: false,
      print: () => undefined,
    });
    expect(isPassed(result), describeResult(result)).to.equal(true);
    const landed = new Set(result.faults.filter((fault) => fault.result === "landed").map(({ kind }) => kind));
    expect([...landed]).to.include.members(KINDS);
    const count = (file: string): number => readFileSync(join(output, file), "utf8").trimEnd().split("\n").length;
    const names = ["history", "lifetimes", "counters", "locks", "regions", "event-logs", "transfers", "sessions"];
    const files = [...names, "session-locks"].map((name) => `${name}.jsonl`);
    const recorded = files.reduce((sum, file) => sum + count(file), 0);
    const operations = result.outcomes.filter(({ kind }) => kind !== "page");
    const counted = operations.reduce((sum, { ok, notExecuted, unknown }) => sum + ok + notExecuted + unknown, 0);
    expect(counted).to.equal(recorded);
    expect(result.outcomes.find(({ kind }) => kind === "page")?.ok)
      .to.equal(count("pages.jsonl"))
      .and.to.be.above(0);
    for (const kind of ["append", "read"]) {
      expect(result.outcomes.find((one) => one.kind === `event log: ${kind}`)?.ok, kind).to.be.above(0);
    }
    for (const kind of ["session: renew", "session: end", "lock in a session: acquire"]) {
      expect(result.outcomes.find((one) => one.kind === kind)?.ok, kind).to.be.above(0);
    }
    expect(result.elections).to.be.above(1);
    expect(result.acknowledgedWrites).to.be.above(0);
  });
});

/** Whether members can be cut off here; prints what is missing otherwise. */
async function hasNetwork(): Promise<boolean> {
  const abilities = await findCapabilities(false);
  if (!abilities.hasNetwork) {
    console.log(`      skipped: ${abilities.lacking.join("; ")}`);
  }
  return abilities.hasNetwork;
}
