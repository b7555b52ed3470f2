/** Runs the exploration on a prepared program, in a copy of the scripts. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { temporaryDirectory } from "../testing/index.ts";
import { repositoryRoot } from "./command.ts";
import { describeCommand, drawingFiles, explorationsOf } from "./explorations.ts";
import { findLayers } from "./test-layers.ts";

const TEST_LIMIT_MS = 60_000;
/** The time is never over before the rounds, however slow the machine is. */
const TWICE = ["--minutes", "10", "--rounds", "2", "--only", "seeds"];

describe("the exploration", function () {
  this.timeout(TEST_LIMIT_MS);
  let root: string;

  beforeEach(() => {
    root = temporaryDirectory();
    symlinkSync(path.join(repositoryRoot, "node_modules"), path.join(root, "node_modules"));
    for (const folder of ["scripts", "testing"]) {
      cpSync(path.join(repositoryRoot, folder), path.join(root, folder), {
        recursive: true,
        filter: (name) => !name.endsWith(".spec.ts"),
      });
    }
    writeFileSync(path.join(root, "package.json"), `{ "type": "module" }`);
    mkdirSync(path.join(root, "node/verify/sim"), { recursive: true });
  });

  /** Runs it with this program in the place of the simulator. */
  async function run(program: string, args: readonly string[]): Promise<{ output: string; exitCode: number | null }> {
    writeFileSync(path.join(root, "node/verify/sim/main.ts"), program);
    const child = spawn(process.execPath, ["scripts/explore.ts", ...args], { cwd: root });
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    return { output: output + errors, exitCode: child.exitCode };
  }

  it("runs with other seeds each time, and the same ones for the same --seed", async () => {
    const { output, exitCode } = await run("", [...TWICE, "--seed", "7"]);
    const seeds = [...output.matchAll(/^ok seeds (\d+) /gm)].map(([, seed]) => seed);
    expect(exitCode, output).to.equal(0);
    expect(output.trimEnd().split("\n").at(-1)).to.equal("2 runs, 0 findings");
    expect(new Set(seeds).size).to.equal(2);
    const again = await run("", [...TWICE, "--seed", "7"]);
    expect([...again.output.matchAll(/^ok seeds (\d+) /gm)].map(([, seed]) => seed)).to.deep.equal(seeds);
    expect(readdirSync(path.join(root, ".quoin/explore"))).to.deep.equal([]);
  });

  it("prints for a finding how to repeat it, keeps its output, and fails", async () => {
    const program = `console.log("a rule is broken"); process.exit(1);`;
    const { output, exitCode } = await run(program, [...TWICE, "--seed", "7"]);
    const [, seed = ""] = /^FOUND seeds (\d+) /m.exec(output) ?? [];
    expect(exitCode, output).to.equal(1);
    expect(output).to.match(/^2 runs, 2 findings$/m);
    const [, command = ""] =
      /^ {4}again: (npx node node\/verify\/sim\/main.ts --seed \d+ --seeds 60)$/m.exec(output) ?? [];
    const kept = readFileSync(path.join(root, `.quoin/explore/seeds-${seed}.log`), "utf8");
    expect(kept).to.equal(`${command}\na rule is broken\n`);
  });

  it("ends when the time is over, and does not count what it had to end", async () => {
    const { output, exitCode } = await run("setInterval(() => {}, 1_000);", ["--minutes", "0.02", "--only", "seeds"]);
    expect(output).to.match(/^0 runs, 0 findings$/m);
    expect(exitCode).to.equal(0);
    expect(readdirSync(path.join(root, ".quoin/explore"))).to.deep.equal([]);
  });

  for (const [args, message] of [
    [[], "--minutes must be a number above 0"],
    [["--minutes", "0"], "--minutes must be a number above 0"],
    [["--minutes", "1", "--rounds", "0"], "--rounds must be a number above 0"],
    [["--minutes", "1", "--seed", "4294967296"], "--seed must be a whole number from 0 to 4294967295"],
    [["--minutes", "1", "--only", "nothing"], "--only nothing is none of seeds, "],
    [["--minutes", "1", "--hours", "1"], "Unknown option '--hours'"],
  ] as const) {
    it(`refuses ${args.join(" ") || "no arguments"}`, async () => {
      const { output, exitCode } = await run("", args);
      expect(output).to.contain(message);
      expect(exitCode).to.equal(2);
    });
  }

  it("runs every spec that draws, and gives each command its seed", () => {
    const layers = findLayers();
    expect(drawingFiles(layers, "specs")).to.include("node/src/raft/quorum.spec.ts");
    expect(drawingFiles(layers, "specs")).not.to.include("node/src/raft/core.spec.ts");
    expect(drawingFiles(layers, "crash")).to.include("node/test/storage/damage.spec.ts");
    for (const { name, commandFor } of explorationsOf(layers)) {
      expect(describeCommand(commandFor(4_711)), name).to.contain("4711");
    }
  });
});
