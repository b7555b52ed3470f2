/** What is to be done with which mutants. */

import { Command, InvalidArgumentError, Option } from "commander";
import { parseArguments, UsageError } from "../../src/command-line/index.ts";
import { MUTANTS } from "./catalogue.ts";

export interface MutantOptions {
  /** Names; null = all. */
  readonly only: readonly string[] | null;
  /** So many of these, chosen by the text; null = all. */
  readonly choice: { readonly count: number; readonly by: string } | null;
  /** Looks for killers, and where; null = tries those that are on record. */
  readonly search: Search | null;
}

export interface Search {
  readonly among: "all" | "specs" | "simulator";
  /** Seeds that the simulator tries. */
  readonly seeds: number;
  /** Only for those of which no killer is known. */
  readonly isForUnknown: boolean;
}

/** Finds in minutes what can be found at all without patience; a search before a release takes far more. */
const SEEDS = 60;
const AMONG = ["all", "specs", "simulator"];

/** The options of these arguments. Raises UsageError; null if only help was asked for and given. */
export function readOptions(args: readonly string[]): MutantOptions | null {
  const program = new Command("npm run mutants --")
    .description("Runs mutants against what catches them by the record, or looks for that anew")
    .option("--only <name>", "this mutant; may be repeated", collect)
    .addOption(new Option("--choose <count>", "so many, chosen by the text of --by").argParser(parseCount))
    .option("--by <text>", "decides the choice", "")
    .option("--search", "look for what catches them, and rewrite the record")
    .addOption(new Option("--among <where>", "where to look").choices(AMONG).default("all"))
    .addOption(new Option("--seeds <count>", "seeds that the simulator tries").argParser(parseCount).default(SEEDS))
    .option("--unknown", "look for those only that nothing is known to catch");
  if (!parseArguments(program, args)) {
    return null;
  }
  const { only, choose, by, search, among, seeds, unknown } = program.opts();
  for (const name of ["among", "seeds", "unknown"]) {
    if (search !== true && program.getOptionValueSource(name) === "cli") {
      throw new UsageError(`--${name} says how to look for killers: it needs --search`);
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
