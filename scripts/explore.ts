/**
 * `npm run explore`: tests with new draws, one exploration after the other, until the time is over. It gates nothing: a
 * finding goes into the corpus of the simulator, or becomes a test with a fixed draw.
 *
 *     npm run explore -- --minutes 30                 every exploration in turn
 *     npm run explore -- --minutes 30 --only fuzz     one of them; may be repeated
 *     npm run explore -- --minutes 30 --seed 7        the same draws as another run with this seed
 *     npm run explore -- --minutes 30 --rounds 2      not more than twice every exploration
 *
 * Each finding is printed with the command that repeats it, and its output stays in `.quoin/explore/`. Ends with the
 * line `N runs, N findings`. The exit code is 1 if there is a finding, and 2 for wrong arguments.
 */

import { randomInt } from "node:crypto";
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { seedFor } from "../testing/index.ts";
import { repositoryRoot, runCommand, stopOnSignals } from "./command.ts";
import { describeCommand, type Exploration, explorationsOf } from "./explorations.ts";
import { findLayers } from "./test-layers.ts";

const MS_PER_MINUTE = 60_000;
const SEEDS = 2 ** 32;
const OUTPUT = ".quoin/explore";
const WRONG_ARGUMENTS = 2;

interface Options {
  readonly minutes: number;
  readonly seed: number;
  readonly rounds: number;
  readonly explorations: readonly Exploration[];
}

class WrongArguments extends Error {}

function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: "string" },
      rounds: { type: "string" },
      seed: { type: "string" },
      only: { type: "string", multiple: true },
    },
  });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) {
    throw new WrongArguments("--minutes must be a number above 0");
  }
  const rounds = values.rounds === undefined ? Number.POSITIVE_INFINITY : Number(values.rounds);
  if (!(rounds > 0)) {
    throw new WrongArguments("--rounds must be a number above 0");
  }
  const seed = values.seed === undefined ? randomInt(SEEDS) : Number(values.seed);
  if (!Number.isInteger(seed) || seed < 0 || seed >= SEEDS) {
    throw new WrongArguments(`--seed must be a whole number from 0 to ${SEEDS - 1}`);
  }
  const all = explorationsOf(findLayers());
  const unknown = values.only?.find((name) => !all.some((one) => one.name === name));
  if (unknown !== undefined) {
    throw new WrongArguments(`--only ${unknown} is none of ${all.map(({ name }) => name).join(", ")}`);
  }
  return { minutes, seed, rounds, explorations: all.filter(({ name }) => values.only?.includes(name) ?? true) };
}

/**
 * Runs an exploration with a seed until the deadline.
 *
 * @returns whether it found something; null if the deadline ended it
 */
async function explore({ name, commandFor }: Exploration, seed: number, deadlineMs: number): Promise<boolean | null> {
  const limitMs = deadlineMs - performance.now();
  if (limitMs <= 0) {
    return null;
  }
  const command = commandFor(seed);
  const file = path.join(OUTPUT, `${name}-${seed}.log`);
  const output = path.join(repositoryRoot, file);
  writeFileSync(output, `${describeCommand(command)}\n`);
  const { problem, durationMs } = await runCommand({
    program: process.execPath,
    args: command.args,
    env: command.environment,
    limitMs,
    onLine: (line) => appendFileSync(output, `${line}\n`),
  });
  if (performance.now() >= deadlineMs && problem !== undefined) {
    rmSync(output);
    return null;
  }
  const seconds = `${(durationMs / 1_000).toFixed(0)} s`;
  if (problem === undefined) {
    rmSync(output);
    process.stdout.write(`ok ${name} ${seed} (${seconds})\n`);
    return false;
  }
  process.stdout.write(`FOUND ${name} ${seed} (${seconds}): ${problem}; see ${file}\n`);
  process.stdout.write(`    again: ${describeCommand(command)}\n`);
  return true;
}

async function main({ minutes, seed, rounds, explorations }: Options): Promise<void> {
  const deadlineMs = performance.now() + minutes * MS_PER_MINUTE;
  mkdirSync(path.join(repositoryRoot, OUTPUT), { recursive: true });
  stopOnSignals(() => undefined);
  process.stdout.write(`exploring for ${minutes} minutes with --seed ${seed}\n`);
  let runs = 0;
  let findings = 0;
  for (let round = 1; round <= rounds && performance.now() < deadlineMs; round++) {
    for (const exploration of explorations) {
      const found = await explore(exploration, seedFor(`${exploration.name} ${round}`, seed), deadlineMs);
      if (found === null) {
        break;
      }
      runs += 1;
      findings += found ? 1 : 0;
    }
  }
  process.stdout.write(`${runs} runs, ${findings} findings\n`);
  process.exitCode = findings > 0 ? 1 : 0;
}

try {
  await main(readOptions(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof WrongArguments || (error instanceof TypeError && "code" in error))) {
    throw error;
  }
  process.stderr.write(`${error.message}\n`);
  process.exitCode = WRONG_ARGUMENTS;
}
