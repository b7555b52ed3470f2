/** The options of `npm run mutants`. */

import { Command, InvalidArgumentError, Option } from "commander";
import { parseArguments, UsageError } from "../../../src/command-line/index.ts";
import { MUTANTS } from "./catalogue.ts";

export interface MutantOptions {
  /** Names; null = all. */
  readonly only: readonly string[] | null;
  /** Number of mutants to try, and the text that chooses them; null = all. */
  readonly choice: { readonly count: number; readonly by: string } | null;
  /** Where to search for killers; null = tries the recorded ones. */
  readonly search: Search | null;
}

export interface Search {
  readonly among: "all" | "specs" | "simulator";
  /** Seeds that the simulator tries. */
  readonly seeds: number;
  /** Only for mutants without a known killer. */
  readonly isForUnknown: boolean;
}

/** Enough for what a search of minutes can find; a search before a release takes far more. */
const SEEDS = 60;
const AMONG = ["all", "specs", "simulator"];

/** Parses the arguments. Throws UsageError; returns null if the arguments only request the help text. */
export function readOptions(args: readonly string[]): MutantOptions | null {
  const program = new Command("npm run mutants --")
    .description("Runs mutants against their recorded killers, or searches for killers")
    .option("--only <name>", "this mutant; may be repeated", collect)
    .addOption(new Option("--choose <count>", "try this many, chosen by the text of --by").argParser(parseCount))
    .option("--by <text>", "decides the choice", "")
    .option("--search", "search for killers, and rewrite the record")
    .addOption(new Option("--among <where>", "where to search").choices(AMONG).default("all"))
    .addOption(new Option("--seeds <count>", "seeds that the simulator tries").argParser(parseCount).default(SEEDS))
    .option("--unknown", "search only for mutants without a known killer");
  if (!parseArguments(program, args)) {
    return null;
  }
  const { only, choose, by, search, among, seeds, unknown } = program.opts();
  for (const name of ["among", "seeds", "unknown"]) {
    if (search !== true && program.getOptionValueSource(name) === "cli") {
      throw new UsageError(`--${name} is an option of the search: it needs --search`);
    }
  }
  return {
    only: only ?? null,
    choice: choose === undefined ? null : { count: choose, by },
    search: search === true ? { among, seeds, isForUnknown: unknown === true } : null,
  };
}

function collect(name: string, before: readonly string[] = []): string[] {
  if (!MUTANTS.some((mutant) => mutant.name === name)) {
    throw new InvalidArgumentError("There is no such mutant.");
  }
  return [...before, name];
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!/^[0-9]+$/.test(text) || count < 1) {
    throw new InvalidArgumentError("It must be a whole number, at least 1.");
  }
  return count;
}
