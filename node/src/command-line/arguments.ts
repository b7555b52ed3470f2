/**
 * How the programs of this package parse their arguments. Wrong arguments raise an error with a message and print
 * nothing.
 */

import { type Command, CommanderError } from "commander";

/** Wrong arguments; the message names the argument and the rule. */
export class UsageError extends Error {}

/** Raises UsageError with the message unless the arguments keep a rule. */
export function requireUsage(isKept: boolean, message: string): asserts isKept {
  if (!isKept) {
    throw new UsageError(message);
  }
}

/**
 * Parses the arguments, and the variables of the environment that the options name, into the options of the program. An
 * empty variable counts as unset.
 *
 * @returns false if the arguments only request help or the version, which commander then prints.
 * @throws UsageError if an argument or a variable is wrong.
 */
export function parseArguments(program: Command, args: readonly string[]): boolean {
  removeEmptyVariables(program);
  requireUtf8(program, args);
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
    const message = error.message.replace(/^error: /, "");
    throw new UsageError(`${message}${suggestion(program, message)}`, { cause: error });
  }
}

/** Commander suggests options that differ in a few letters; this one differs in its first words. */
function suggestion({ options }: Command, message: string): string {
  const [, unknown = ""] = /^unknown option '-([^']+)'$/.exec(message) ?? [];
  const flags = options.map(({ long }) => long ?? "");
  const meant = flags.find((flag) => unknown.endsWith(flag.slice(1)) || flag.endsWith(unknown));
  return unknown === "" || meant === undefined ? "" : `; did you mean ${meant}?`;
}

/**
 * Node puts U+FFFD in the place of bytes that are not UTF-8, and the program would then use another file than the named
 * one. No name or address of a member needs that character, so it is refused in any case.
 */
function requireUtf8({ options }: Command, args: readonly string[]): void {
  // The value of a variable may be a secret.
  const variables = options.flatMap(({ envVar = "" }) => [{ what: envVar, value: process.env[envVar], shown: "" }]);
  const given = [
    ...args.map((value, at) => ({ what: `argument ${at + 1}`, value, shown: `: ${value}` })),
    ...variables,
  ];
  const wrong = given.find(({ value }) => value?.includes("\ufffd"));
  if (wrong !== undefined) {
    throw new UsageError(`${wrong.what} is not UTF-8, or has the character U+FFFD${wrong.shown}`);
  }
}

/** Commander would take an empty text as the value. */
function removeEmptyVariables({ options }: Command): void {
  for (const { envVar } of options) {
    if (envVar !== undefined && process.env[envVar]?.trim() === "") {
      delete process.env[envVar];
    }
  }
}
