import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { TemporaryDirectories } from "../test/harness/index.ts";
import { findAbilities } from "./machine.ts";
import { runNemesis } from "./nemesis.ts";
import { describeResult, isPassed } from "./report.ts";

/** Its order of faults is always the same; when each meets the cluster is not. */
const SEED = 7;
const RUN_MS = 12_000;
const KINDS = ["kill: leader", "kill: follower", "pause: any", "partition: leader alone", "partition: halves"];

describe("the nemesis", () => {
  const directories = new TemporaryDirectories();

  after(() => directories.removeAll());

  it("kills, pauses and parts three members, and every history stays correct (G1, G2, G3)", async function () {
    const { hasNetwork, lacking } = await findAbilities(false);
    if (!hasNetwork) {
      console.log(`      skipped: ${lacking.join("; ")}`);
      return this.skip();
    }
    const output = directories.make();
    const result = await runNemesis({
      ...{ members: 3, runMs: RUN_MS, seed: SEED, output, kinds: KINDS, mayInstall: false },
      print: () => undefined,
    });
    expect(isPassed(result), describeResult(result)).to.equal(true);
    const landed = new Set(result.faults.filter((fault) => fault.result === "landed").map(({ kind }) => kind));
    expect([...landed]).to.include.members(KINDS);
    const lines = readFileSync(join(output, "history.jsonl"), "utf8").trimEnd().split("\n");
    expect(lines).to.have.lengthOf(result.operations);
    expect(result.acknowledgedWrites).to.be.above(0);
  });
});
