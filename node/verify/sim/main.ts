/**
 * Runs the simulator.
 *
 *     npm run sim -- --seeds 500 --seed 1        this many runs, from this seed on, in as many processes as processors
 *     npm run sim -- --seeds 500 --jobs 1        the same in one process
 *     npm run sim -- --seeds 20 --twice          each in a second process too: only the seed may decide
 *     npm run sim -- --script FILE [--trace]     a written script, with all events
 *     npm run sim -- ... --shrink                shortens the script of a failed run, and keeps it in corpus/
 *     npm run sim -- ... --keep-going --quiet    goes on after a failure; prints failures and the summary only
 *     npm run sim -- ... --record-marks          writes the reached marks to marks.json
 *
 * Reports come in the order of the seeds. At the end come sums of all runs, and the marks that no run has reached. The
 * exit code is 1 if a run has failed, 2 for wrong arguments.
 */

import { UsageError } from "../../src/command-line/index.ts";
import { readScript } from "./corpus.ts";
import { firstDifferenceOf } from "./determinism.ts";
import { recordMarks } from "./mark-record.ts";
import { readOptions, type SimulatorOptions } from "./options.ts";
import type { WrittenScript } from "./script.ts";
import { runInProcesses, type SeedOrder, stopOnSignals } from "./seed-processes.ts";
import { type RunMode, runScript, runSeed, type SeedReport } from "./seed-run.ts";
import { Summary } from "./summary.ts";
import { describeUncovered } from "./uncovered.ts";

const WRONG_ARGUMENTS = 2;
/** Failed seeds that the last line names. */
const NAMED_MAX = 20;

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

function runModeOf({ isShrunk, isTraced }: SimulatorOptions): RunMode {
  return { isShrunk, listener: isTraced ? printLine : null };
}

async function* runHere({ first, count }: SeedOrder, manner: RunMode): AsyncGenerator<SeedReport> {
  for (let seed = first; seed < first + count; seed++) {
    yield await runSeed(seed, manner);
  }
}

/** Each report with that of the same seed in another process. */
async function* runTwice(order: SeedOrder, jobs: number): AsyncGenerator<readonly [SeedReport, SeedReport]> {
  const others = runInProcesses({ ...order, isShrunk: false }, Math.max(Math.floor(jobs / 2), 1));
  try {
    for await (const report of runInProcesses(order, Math.ceil(jobs / 2))) {
      yield [report, (await others.next()).value as SeedReport];
    }
  } finally {
    await others.return(undefined);
  }
}

/** Each report; if the second run differs, a report of the difference takes its place. */
async function* compared(order: SeedOrder, jobs: number): AsyncGenerator<SeedReport> {
  for await (const [one, other] of runTwice(order, jobs)) {
    const parting = firstDifferenceOf(one, other);
    const words = `FAIL the same seed means the same run\nseed ${one.seed}  ${parting}`;
    yield parting === null || one.isFailed ? one : { ...one, isFailed: true, words };
  }
}

function reportsOf(options: SimulatorOptions): AsyncIterable<SeedReport> {
  const { jobs, isTwice } = options;
  if (jobs === 1 && !isTwice) {
    return runHere(options, runModeOf(options));
  }
  // Not in processes that make runs: they would handle the signal only after their last run.
  stopOnSignals();
  return isTwice ? compared(options, jobs) : runInProcesses(options, jobs);
}

/** Seeds that have failed. */
async function runSeeds(options: SimulatorOptions): Promise<number[]> {
  const { first, count, isQuiet, keepsGoing, recordsMarks } = options;
  const summary = new Summary();
  const failed: number[] = [];
  for await (const { seed, isFailed, words, tally } of reportsOf(options)) {
    if (tally !== null) {
      summary.add(tally);
    }
    if (isFailed || !isQuiet) {
      printLine(words);
    }
    if (isFailed) {
      failed.push(seed);
      if (!keepsGoing) {
        break;
      }
    }
  }
  printLine(`\n${describeUncovered(summary.reached)}\n\n${summary.describe()}\n`);
  printLine(`${count} seeds from ${first} on: ${verdictOn(failed)}`);
  if (recordsMarks) {
    recordMarks(summary.reached);
  }
  return failed;
}

function verdictOn(failed: readonly number[]): string {
  if (failed.length === 0) {
    return "every rule held";
  }
  const more = failed.length > NAMED_MAX ? " and others" : "";
  return `${failed.length} failed: ${failed.slice(0, NAMED_MAX).join(" ")}${more}`;
}

/** Throws a UsageError if the file has no script. */
function readWritten(file: string): WrittenScript {
  try {
    return readScript(file);
  } catch (error) {
    throw new UsageError(`${file} holds no script: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}

async function main(): Promise<boolean> {
  const options = readOptions(process.argv.slice(2));
  if (options === null) {
    return true;
  }
  if (options.script === null) {
    return (await runSeeds(options)).length === 0;
  }
  const { script } = readWritten(options.script);
  const repeat = `npm run sim -- --script ${options.script} --trace`;
  const { isFailed, words } = await runScript(script, repeat, runModeOf(options));
  printLine(words);
  return !isFailed;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  if (!(error instanceof UsageError)) {
    throw error;
  }
  process.stderr.write(`${error.message.replaceAll("\n", " ")}\n`);
  process.exitCode = WRONG_ARGUMENTS;
}
