import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { PROGRAMS_VARIABLE } from "../../../testing/index.ts";
import { TemporaryDirectories } from "../../test/harness/index.ts";
import { findCapabilities } from "./machine.ts";
import { runNemesis } from "./nemesis.ts";
import { describeResult, isPassed } from "./report.ts";

/** The order of faults is always the same, their exact timing is not. */
const SEED = 7;
const RUN_MS = 12_000;
/** Adds the deliberate bug that the environment names. */
const MUTANT_LOADER = fileURLToPath(new URL("../sim/mutants/loader.ts", import.meta.url));
const MUTANT_RUN_MS = 6_000;
const KINDS = ["kill: leader", "kill: follower", "pause: any", "partition: leader alone", "partition: halves"];

describe("the nemesis", () => {
  const directories = new TemporaryDirectories();

  after(() => directories.removeAll());

  it("kills, pauses and parts three members, and every history stays correct (G1, G2, G3)", async function () {
    if (!(await hasNetwork())) {
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
    const count = (file: string): number => readFileSync(join(output, file), "utf8").trimEnd().split("\n").length;
    const files = ["history", "lifetimes", "counters", "locks", "regions", "event-logs"].map((name) => `${name}.jsonl`);
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
    expect(result.elections).to.be.above(1);
    expect(result.acknowledgedWrites).to.be.above(0);
  });

  it("fails when keys of events count at one member alone (S5)", async () => {
    const violations = await violationsOf("key-known-to-one-member-alone", "kill: leader", directories.make());
    expect(violations).to.contain("a key is stored once");
  });
});

/** Violations that a short run finds in members with this bug, under this kind of fault. */
async function violationsOf(mutant: string, kind: string, output: string): Promise<string> {
  const result = await runNemesis({
    ...{ members: 3, runMs: MUTANT_RUN_MS, seed: SEED, output, kinds: [kind], mayInstall: false },
    environment: { NODE_OPTIONS: `--import=${MUTANT_LOADER}`, QUOIN_MUTANT: mutant, [PROGRAMS_VARIABLE]: "" },
    print: () => undefined,
  });
  expect(readFileSync(join(output, "q-0.log"), "utf8")).to.contain("the mutant is in place");
  expect(isPassed(result), describeResult(result)).to.equal(false);
  return result.violations.join("\n");
}

/** Whether members can be cut off here; prints what is missing otherwise. */
async function hasNetwork(): Promise<boolean> {
  const abilities = await findCapabilities(false);
  if (!abilities.hasNetwork) {
    console.log(`      skipped: ${abilities.lacking.join("; ")}`);
  }
  return abilities.hasNetwork;
}
