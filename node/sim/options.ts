/** What the simulator is asked to run. */

import { availableParallelism } from "node:os";
import { Command, InvalidArgumentError, Option } from "commander";
import { parseArguments, UsageError } from "../src/command-line/index.ts";
import { SEEDS } from "./random.ts";

export interface SimulatorOptions {
  /** The first seed, and how many there are from it on. */
  readonly first: number;
  readonly count: number;
  /** Processes at a time. */
  readonly jobs: number;
  /** A script that was written down, instead of seeds; null = none. */
  readonly script: string | null;
  /** Tells all that happens. */
  readonly isTraced: boolean;
  /** Each seed runs in a second process as well. */
  readonly isTwice: boolean;
  readonly isShrunk: boolean;
  /** Tells of failures and of the whole alone. */
  readonly isQuiet: boolean;
  readonly keepsGoing: boolean;
  readonly recordsMarks: boolean;
}

const COUNT = 20;
/** A process takes hundreds of mebibytes: more of them than this come from a slip of the finger. */
const JOBS_MAX = 256;
/** These are about seeds, and a script has none to choose. */
const OF_SEEDS = ["seeds", "seed", "jobs", "twice", "keepGoing"];

/** The options of these arguments. Raises UsageError; null if only help was asked for and given. */
export function readOptions(args: readonly string[]): SimulatorOptions | null {
  const program = new Command("npm run sim --")
    .description("Runs clusters in simulated time, and says which rule was broken")
    .option("--seeds <count>", "how many runs", wholeBetween(1, SEEDS), COUNT)
    .option("--seed <number>", "the first of them", wholeBetween(0, SEEDS - 1), 1)
    .option("--jobs <count>", "processes at a time", wholeBetween(1, JOBS_MAX), availableParallelism())
    .addOption(new Option("--script <file>", "a run that was written down, instead of seeds").conflicts(OF_SEEDS))
    .addOption(new Option("--trace", "tell all that happens; one process").conflicts(["jobs", "twice"]))
    .option("--twice", "run each seed in a second process as well, and compare")
    .option("--shrink", "make the script of a run that fails short, and keep it in corpus/")
    .option("--keep-going", "go on after a failure")
    .option("--quiet", "tell of failures and of the whole alone")
    .option("--record-marks", "note in marks.json which marks were reached, and run specs for the others");
  if (!parseArguments(program, args)) {
    return null;
  }
  const { seed, seeds, jobs, script, trace, twice, shrink, keepGoing, quiet, recordMarks } = program.opts();
  if (seed + seeds > SEEDS) {
    throw new UsageError(`seeds end at ${SEEDS - 1}: there are no ${seeds} from ${seed} on`);
  }
  return {
    first: seed,
    count: seeds,
    jobs: trace === true ? 1 : jobs,
    script: script ?? null,
    isTraced: trace === true,
    isTwice: twice === true,
    isShrunk: shrink === true,
    isQuiet: quiet === true,
    keepsGoing: keepGoing === true,
    recordsMarks: recordMarks === true,
  };
}

function wholeBetween(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^[0-9]+$/.test(text) || number < min || number > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    }
    return number;
  };
}
