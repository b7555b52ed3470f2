/** The options of the simulator. */

import { availableParallelism } from "node:os";
import { Command, InvalidArgumentError, Option } from "commander";
import { parseArguments, UsageError } from "../../src/command-line/index.ts";
import { SEEDS } from "./random.ts";

export interface SimulatorOptions {
  /** The first seed, and the number of seeds from it on. */
  readonly first: number;
  readonly count: number;
  /** Processes at a time. */
  readonly jobs: number;
  /** A written script instead of seeds; null = none. */
  readonly script: string | null;
  /** Prints all events. */
  readonly isTraced: boolean;
  /** Runs each seed in a second process as well. */
  readonly isTwice: boolean;
  readonly isShrunk: boolean;
  /** Prints failures and the summary only. */
  readonly isQuiet: boolean;
  readonly keepsGoing: boolean;
  readonly recordsMarks: boolean;
}

const COUNT = 20;
/** A process takes hundreds of mebibytes, so a larger number is a typing error. */
const JOBS_MAX = 256;
/** These options are about seeds, so they do not go with a script. */
const OF_SEEDS = ["seeds", "seed", "jobs", "twice", "keepGoing"];

/** Parses the arguments. Throws UsageError; returns null if the arguments only request the help text. */
export function readOptions(args: readonly string[]): SimulatorOptions | null {
  const program = new Command("npm run sim --")
    .description("Runs clusters in simulated time, and reports broken rules")
    .option("--seeds <count>", "how many runs", wholeBetween(1, SEEDS), COUNT)
    .option("--seed <number>", "the first of them", wholeBetween(0, SEEDS - 1), 1)
    .option("--jobs <count>", "processes at a time", wholeBetween(1, JOBS_MAX), availableParallelism())
    .addOption(new Option("--script <file>", "a written script, instead of seeds").conflicts(OF_SEEDS))
    .addOption(new Option("--trace", "print all events; uses one process").conflicts(["jobs", "twice"]))
    .option("--twice", "run each seed in a second process as well, and compare")
    .option("--shrink", "shorten the script of a failed run, and keep it in corpus/")
    .option("--keep-going", "go on after a failure")
    .option("--quiet", "print failures and the summary only")
    .option("--record-marks", "write the reached marks to marks.json, and run specs for the others");
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
