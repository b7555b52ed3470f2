/** A run and its report, as data that one process can send to another. */

import path from "node:path";
import { shortCommit } from "./commit.ts";
import { saveScript } from "./corpus.ts";
import type { Hashes } from "./determinism.ts";
import { describeLine, describeRun } from "./report.ts";
import type { RunResult } from "./run-result.ts";
import { drawScript, type Script } from "./script.ts";
import { shrink } from "./shrink.ts";
import { Simulation } from "./simulation.ts";
import { type Tally, tallyOf } from "./summary.ts";

/** The result of a run. */
export interface SeedReport extends Hashes {
  readonly seed: number;
  readonly isFailed: boolean;
  /** One line, or everything that helps to understand a failure. */
  readonly words: string;
  /** Null if its process died before the report. */
  readonly tally: Tally | null;
}

/** How to make runs. */
export interface RunMode {
  /** Scripts of failed runs are shortened and kept. */
  readonly isShrunk: boolean;
  /** Gets all events, line by line; null = no listener. */
  readonly listener: ((line: string) => void) | null;
}

/** The environment variable with the mutant of the program that runs here, if any. */
const MUTANT_VARIABLE = "QUOIN_MUTANT";
const MICROSECONDS_PER_MS = 1_000;

/** The command that repeats the run of a seed. */
export function repeatSeed(seed: number): string {
  return `npm run sim -- --seed ${seed} --seeds 1 --trace`;
}

export function runSeed(seed: number, manner: RunMode): Promise<SeedReport> {
  return runScript(drawScript(seed), repeatSeed(seed), manner);
}

/** `repeat`: the command that repeats the run. */
export async function runScript(script: Script, repeat: string, { isShrunk, listener }: RunMode): Promise<SeedReport> {
  const before = process.cpuUsage();
  const simulation = new Simulation(script, listener === null ? null : (line) => listener(describeLine(line)));
  const result = await simulation.run();
  const { user, system } = process.cpuUsage(before);
  const { failure, traceHash, checkpoints } = result;
  const words = failure === null ? describeRun(result) : describeRun(result, { commit: shortCommit(), repeat });
  return {
    seed: script.seed,
    isFailed: failure !== null,
    traceHash,
    checkpoints,
    words: failure !== null && isShrunk ? `${words}\n${await saveShrunk(result, failure.rule)}` : words,
    tally: tallyOf(result, (user + system) / MICROSECONDS_PER_MS),
  };
}

/** Shortens the script and keeps it; returns a text that names the file. */
async function saveShrunk(failed: RunResult, rule: string): Promise<string> {
  const { result, runs } = await shrink(failed);
  const { script } = result;
  const mutant = process.env[MUTANT_VARIABLE] ?? null;
  const file = path.relative(process.cwd(), saveScript({ rule, mutant, script }));
  return [
    `shrunk to ${script.items.length} items, ${script.plan.members} members, in ${runs} runs`,
    `repeat  npm run sim -- --script ${file} --trace`,
  ].join("\n");
}
