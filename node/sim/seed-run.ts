/** A run and what is told of it, as data that one process can send to another. */

import path from "node:path";
import { shortCommit } from "./commit.ts";
import { keepScript } from "./corpus.ts";
import type { Hashes } from "./determinism.ts";
import { describeLine, describeRun } from "./report.ts";
import { drawScript, type Script } from "./script.ts";
import { shrink } from "./shrink.ts";
import { type RunResult, Simulation } from "./simulation.ts";
import { type Tally, tallyOf } from "./summary.ts";

/** What a run came to. */
export interface SeedReport extends Hashes {
  readonly seed: number;
  readonly isFailed: boolean;
  /** A line, or all that helps to understand what is wrong. */
  readonly words: string;
  /** Null if its process did not live to tell. */
  readonly tally: Tally | null;
}

/** How runs are made. */
export interface Manner {
  /** Scripts of runs that fail are made short, and kept. */
  readonly isShrunk: boolean;
  /** Gets all that happens, line by line; null = nobody does. */
  readonly listener: ((line: string) => void) | null;
}

/** Names the mutant of the program that runs here, if one does. */
const MUTANT_VARIABLE = "QUOIN_MUTANT";
const MICROSECONDS_PER_MS = 1_000;

/** The command that repeats the run of a seed. */
export function repeatSeed(seed: number): string {
  return `npm run sim -- --seed ${seed} --seeds 1 --trace`;
}

export function runSeed(seed: number, manner: Manner): Promise<SeedReport> {
  return runScript(drawScript(seed), repeatSeed(seed), manner);
}

/** `repeat`: the command that repeats the run. */
export async function runScript(script: Script, repeat: string, { isShrunk, listener }: Manner): Promise<SeedReport> {
  const before = process.cpuUsage();
  const simulation = new Simulation(script, listener === null ? null : (line) => listener(describeLine(line)));
  const result = await simulation.run();
  const { user, system } = process.cpuUsage(before);
  const { failure, traceHash, checkpoints } = result;
  const words = failure === null ? describeRun(result) : describeRun(result, { commit: shortCommit(), repeat });
  return {
    ...{ seed: script.seed, isFailed: failure !== null, traceHash, checkpoints },
    words: failure !== null && isShrunk ? `${words}\n${await keepShrunk(result, failure.rule)}` : words,
    tally: tallyOf(result, (user + system) / MICROSECONDS_PER_MS),
  };
}

/** Makes the script short and keeps it; says where. */
async function keepShrunk(failed: RunResult, rule: string): Promise<string> {
  const { result, runs } = await shrink(failed);
  const { script } = result;
  const mutant = process.env[MUTANT_VARIABLE] ?? null;
  const file = path.relative(process.cwd(), keepScript({ rule, mutant, script }));
  return [
    `shrunk to ${script.items.length} items, ${script.plan.members} members, in ${runs} runs`,
    `repeat  npm run sim -- --script ${file} --trace`,
  ].join("\n");
}
