/** What the benchmark is asked to measure. */

import { Command, CommanderError, InvalidArgumentError } from "commander";

export interface PutOptions {
  /** Numbers of requests in flight, each measured by itself. */
  readonly inFlight: readonly number[];
  readonly valueBytes: number;
  /** Each point ends when both are reached. */
  readonly seconds: number;
  readonly operations: number;
  readonly warmUpSeconds: number;
  /** Where the raw figures go, one JSON object a line; null = nowhere. */
  readonly output: string | null;
}

/** The arguments are wrong; the message says which and why. */
export class UsageError extends Error {}

/** The options of these arguments. Raises UsageError; null if only help was asked for and given. */
export function parseOptions(args: readonly string[]): PutOptions | null {
  let options: PutOptions | null = null;
  const program = new Command("npm run bench --").description("Measures a cluster on this machine").exitOverride();
  program.configureOutput({ writeErr: () => undefined });
  program
    .command("put")
    .description("PutKey of distinct keys, each with a request id of its own, against one member")
    .option("--in-flight <counts>", "requests in flight, one point each", parseCounts, [1, 64])
    .option("--value-bytes <bytes>", "size of each value", parseCount, 256)
    .option("--seconds <seconds>", "least duration of a point", parseCount, 10)
    .option("--operations <count>", "or this many operations, if they come first", parseCount, 30_000)
    .option("--warm-up-seconds <seconds>", "before each point", parseCount, 2)
    .option("--output <file>", "append the raw figures, one JSON object a line")
    .action((flags) => {
      options = { ...flags, output: flags.output ?? null };
    });
  try {
    program.parse(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      throw error;
    }
    if (error.exitCode !== 0) {
      throw new UsageError(error.message.replace(/^error: /, ""), { cause: error });
    }
  }
  return options;
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!/^[0-9]+$/.test(text) || count < 1) {
    throw new InvalidArgumentError("It must be a whole number, at least 1.");
  }
  return count;
}

function parseCounts(text: string): number[] {
  return text.split(",").map((part) => parseCount(part.trim()));
}
