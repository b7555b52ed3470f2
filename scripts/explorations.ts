/**
 * What `npm run explore` runs. Each exploration is a command that draws all that is random from one seed, so the same
 * command repeats the run.
 */

import { readFileSync } from "node:fs";
import path from "node:path";
import { SEED_VARIABLE } from "../testing/index.ts";
import { repositoryRoot } from "./command.ts";
import type { TestLayer } from "./test-layers.ts";

/** A command with its seed in it. */
export interface SeededCommand {
  readonly environment: Readonly<Record<string, string>>;
  /** The program of this repository, and its arguments. */
  readonly args: readonly string[];
}

export interface Exploration {
  readonly name: string;
  readonly commandFor: (seed: number) => SeededCommand;
}

/** Each takes half a minute to five minutes on two cores. */
const SIMULATED_SEEDS = 60;
/** The simulator's last seed is 2³² - 1. */
const FIRST_SEED_MAX = 2 ** 32 - SIMULATED_SEEDS;
const CRASH_ROUNDS = 30;
const MUTANTS = 24;
const NEMESIS_MINUTES = 5;

/** The text of a spec that draws from the seed of its process. */
const DRAWING = /\bdrawnSeed\(|from "fast-check"/;

/** @returns the files of a layer whose draws follow QUOIN_SEED */
export function drawingFiles(layers: readonly TestLayer[], name: string): readonly string[] {
  const files = layers.find((layer) => layer.name === name)?.files ?? [];
  return files.filter((file) => DRAWING.test(readFileSync(path.join(repositoryRoot, file), "utf8")));
}

/** @returns all explorations, in the order of a round */
export function explorationsOf(layers: readonly TestLayer[]): readonly Exploration[] {
  const ofLayer = (name: string): Exploration => ({
    name,
    commandFor: (seed) => ({
      environment: { [SEED_VARIABLE]: String(seed) },
      args: ["scripts/test.ts", ...drawingFiles(layers, name)],
    }),
  });
  const ofProgram = (name: string, argsFor: (seed: number) => readonly string[]): Exploration => ({
    name,
    commandFor: (seed: number) => ({ environment: {}, args: argsFor(seed) }),
  });
  return [
    ofProgram("seeds", (seed) => {
      const first = seed % (FIRST_SEED_MAX + 1);
      return ["node/verify/sim/main.ts", "--seed", `${first}`, "--seeds", `${SIMULATED_SEEDS}`];
    }),
    ofLayer("specs"),
    ofProgram("kills", (seed) => {
      return ["node/test/crash/main.ts", "--rounds", `${CRASH_ROUNDS}`, "--seed", `${seed}`];
    }),
    ofLayer("fuzz"),
    ofProgram("nemesis", (seed) => {
      return ["node/verify/nemesis/main.ts", "--minutes", `${NEMESIS_MINUTES}`, "--members", "3", "--seed", `${seed}`];
    }),
    ofLayer("crash"),
    ofLayer("cluster"),
    {
      name: "mutants",
      commandFor: (seed: number) => ({
        environment: { [SEED_VARIABLE]: String(seed) },
        args: ["node/verify/sim/mutants/main.ts", "--choose", `${MUTANTS}`, "--by", `${seed}`],
      }),
    },
    ofLayer("simulator"),
    ofLayer("process"),
  ].filter(({ commandFor }) => commandFor(0).args.length > 1);
}

/** @returns the command as a user types it in the root of the repository */
export function describeCommand({ environment, args }: SeededCommand): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  return [...variables, "npx node", ...args].join(" ");
}
