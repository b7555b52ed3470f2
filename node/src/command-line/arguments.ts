/** How the programs of this package read their arguments: wrong ones are an error with a message, nothing is printed. */

import { type Command, CommanderError } from "commander";

/** The arguments are wrong; the message says which and why. */
export class UsageError extends Error {}

/**
 * Parses the arguments into the program's options. Raises UsageError; returns false if only help or version was asked
 * for, which is printed.
 */
export function parseArguments(program: Command, args: readonly string[]): boolean {
  program
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  try {
    program.parse(args, { from: "user" });
    return true;
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      throw error;
    }
    if (error.exitCode === 0) {
      return false;
    }
    throw new UsageError(error.message.replace(/^error: /, ""), { cause: error });
  }
}
