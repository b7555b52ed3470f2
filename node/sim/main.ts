/**
 * Runs the simulator.
 *
 *     npm run sim -- --seeds 500 --seed 1        so many runs, from this seed on
 *     npm run sim -- --seeds 20 --twice          each in a second process too: nothing but the seed may decide
 *     npm run sim -- --script FILE [--trace]     one that was written down, with all that happens
 *     npm run sim -- ... --shrink                makes the script of a run that fails short, and keeps it in corpus/
 *     npm run sim -- ... --keep-going --quiet    goes on after a failure; prints failures alone
 *     npm run sim -- ... --record-marks          notes the marks that were reached in marks.json
 *
 * Ends with what was never reached, and with the exit code 1 if a run has failed.
 */

import { execFileSync, spawnSync } from "node:child_process";
import path from "node:path";
import { parseArgs } from "node:util";
import { keepScript, readScript } from "./corpus.ts";
import { recordMarks } from "./mark-record.ts";
import { Reach } from "./reach.ts";
import { describeLine, describeRun } from "./report.ts";
import { drawScript, type Script } from "./script.ts";
import { shrink } from "./shrink.ts";
import { type RunResult, Simulation } from "./simulation.ts";
import { describeUnreached } from "./unreached.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    script: { type: "string" },
    trace: { type: "boolean", default: false },
    twice: { type: "boolean", default: false },
    shrink: { type: "boolean", default: false },
    quiet: { type: "boolean", default: false },
    "keep-going": { type: "boolean", default: false },
    "record-marks": { type: "boolean", default: false },
    /** For the second process of --twice: prints what runs are compared by. */
    hashes: { type: "boolean", default: false },
  },
});

/** What two runs of a seed are compared by. */
interface Hashes {
  readonly traceHash: string;
  readonly checkpoints: readonly string[];
}

/** Names the mutant of the program that runs here, if one does. */
const MUTANT_VARIABLE = "QUOIN_MUTANT";
/** Room for the hashes of a second process. */
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;
const first = Number(values.seed);
const count = Number(values.seeds);
const reach = new Reach();

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], {
      ...{ cwd: import.meta.dirname, encoding: "utf8" },
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    // Without a repository, or without git, nobody can tell.
    return "";
  }
}

function run(script: Script): RunResult {
  const result = new Simulation(script, values.trace ? (line) => say(describeLine(line)) : null).run();
  reach.add(result.reached);
  return result;
}

function explain(result: RunResult): void {
  const { failure, script } = result;
  if (failure === null) {
    say(describeRun(result));
    return;
  }
  const source = values.script === undefined ? `--seed ${script.seed} --seeds 1` : `--script ${values.script}`;
  const repeat = `npm run sim -- ${source} --trace`;
  say(describeRun(result, { commit: commit(), repeat }));
  if (values.shrink) {
    const shrunk = shrink(result);
    const kept = shrunk.result.script;
    const mutant = process.env[MUTANT_VARIABLE] ?? null;
    const file = path.relative(process.cwd(), keepScript({ rule: failure.rule, mutant, script: kept }));
    say(`shrunk to ${kept.items.length} items, ${kept.plan.members} members, in ${shrunk.runs} runs`);
    say(`repeat  npm run sim -- --script ${file} --trace`);
  }
}

/** What a second process makes of the same seeds. */
function runElsewhere(): Hashes[] {
  const args = [import.meta.filename, "--hashes", "--seed", values.seed, "--seeds", values.seeds];
  const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8", maxBuffer: OUTPUT_BYTES_MAX });
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Hashes);
}

/** Whether both came to the same; says where they part if not. */
function isSame(seed: number, one: Hashes, other: Hashes | undefined): boolean {
  if (one.traceHash === other?.traceHash) {
    return true;
  }
  const parted = one.checkpoints.findIndex((hash, at) => hash !== other?.checkpoints[at]);
  const from = (parted === -1 ? one.checkpoints.length : parted) * 1000;
  say(`FAIL the same seed means the same run`);
  say(`seed ${seed}  trace ${one.traceHash}, then ${other?.traceHash ?? "none"}: they part after line ${from}`);
  return false;
}

function runSeeds(): number {
  const elsewhere = values.twice ? runElsewhere() : [];
  let failures = 0;
  for (let seed = first; seed < first + count; seed++) {
    const result = run(drawScript(seed));
    if (result.failure !== null || !values.quiet) {
      explain(result);
    }
    const isRepeatable = !values.twice || isSame(seed, result, elsewhere[seed - first]);
    if (result.failure !== null || !isRepeatable) {
      failures++;
      if (!values["keep-going"]) {
        break;
      }
    }
  }
  if (!values.quiet) {
    say(describeUnreached(reach.counts));
  }
  if (failures === 0) {
    say(`${count} seeds from ${first} on: every rule held`);
  }
  return failures;
}

function runScript(file: string): number {
  const result = run(readScript(file).script);
  explain(result);
  return result.failure === null ? 0 : 1;
}

function printHashes(): number {
  for (let seed = first; seed < first + count; seed++) {
    const { traceHash, checkpoints } = new Simulation(drawScript(seed)).run();
    say(JSON.stringify({ traceHash, checkpoints } satisfies Hashes));
  }
  return 0;
}

const failures = values.hashes ? printHashes() : values.script === undefined ? runSeeds() : runScript(values.script);
if (values["record-marks"]) {
  recordMarks(reach.counts);
}
process.exitCode = failures === 0 ? 0 : 1;
