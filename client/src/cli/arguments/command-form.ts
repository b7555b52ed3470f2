/**
 * Commands as values: the usage, the options and the help of a command are data, and the types of what it reads follow
 * from them.
 */

import type { Argument, Command } from "commander";
import { addOptions, type OptionsOf, type OptionTable } from "./option-form.ts";

/** How an argument looks in the help, and how it is read. */
export interface ArgumentForm {
  readonly description?: string;
  readonly choices?: readonly string[];
  /**
   * Throws InvalidArgumentError of commander with the rule for the value; commander adds the name of the argument. For
   * each further text of `<NAME...>`, it gets what it has made of those before.
   */
  parse?(text: string, before: unknown): unknown;
}

type ArgumentTable = Readonly<Record<string, ArgumentForm>>;

/** The values of the words of a usage: `<NAME>`, `[NAME]`, or several as `<NAME...>`; other words have none. */
type ValuesOf<Usage, Arguments> = Usage extends `${infer Word} ${infer Rest}`
  ? [...ValuesOf<Word, Arguments>, ...ValuesOf<Rest, Arguments>]
  : Usage extends `<${infer Name}...>` | `[${infer Name}...]`
    ? [ParsedOr<readonly string[], Name, Arguments>]
    : Usage extends `<${infer Name}>`
      ? [ParsedOr<string, Name, Arguments>]
      : Usage extends `[${infer Name}]`
        ? [ParsedOr<string, Name, Arguments> | undefined]
        : [];

type ParsedOr<Text, Name, Arguments> = Name extends keyof Arguments
  ? Arguments[Name] extends { parse(...texts: never): infer Value }
    ? Value
    : Text
  : Text;

/** A command. */
export interface CommandForm<Usage extends string, Options extends OptionTable, Arguments extends ArgumentTable> {
  /** Arguments with more than a name, by their names in the usage. */
  readonly arguments?: Arguments;
  readonly options?: Options;
  /** The first line of the help, if it is not that of the options and arguments. */
  readonly usage?: string;
  /** What follows the options in the help. */
  readonly help?: string;
  /** Runs the command with the values of its arguments, and with its options. */
  readonly run: (...values: [...ValuesOf<Usage, Arguments>, OptionsOf<Options>]) => Promise<void>;
}

/**
 * Adds a command to its group.
 *
 * @param usage its name and its arguments, such as `put <NAMESPACE/KEY> [VALUE]`.
 */
export function addCommand<
  const Usage extends string,
  Options extends OptionTable = Record<never, never>,
  Arguments extends ArgumentTable = Record<never, never>,
>(
  group: Command,
  usage: Usage,
  { description, ...form }: CommandForm<Usage, Options, Arguments> & { readonly description: string },
): void {
  complete(group.command(usage).description(description), form);
}

/**
 * Completes a command without subcommands, which has its name and its description already.
 *
 * @param usage its arguments, such as `[EMAIL]`; empty = none.
 */
export function completeCommand<
  const Usage extends string,
  Options extends OptionTable = Record<never, never>,
  Arguments extends ArgumentTable = Record<never, never>,
>(command: Command, usage: Usage, form: CommandForm<Usage, Options, Arguments>): void {
  complete(usage === "" ? command : command.arguments(usage), form);
}

function complete<Usage extends string, Options extends OptionTable, Arguments extends ArgumentTable>(
  command: Command,
  { arguments: table, options, usage, help, run }: CommandForm<Usage, Options, Arguments>,
): void {
  for (const argument of command.registeredArguments) {
    describe(argument, table?.[argument.name()] ?? {});
  }
  addOptions(command, options ?? {});
  if (usage !== undefined) {
    command.usage(usage);
  }
  if (help !== undefined) {
    command.addHelpText("after", help);
  }
  command.action(run);
}

function describe(argument: Argument, { description = "", choices, parse }: ArgumentForm): void {
  argument.description = description;
  if (choices !== undefined) {
    argument.choices([...choices]);
  }
  if (parse !== undefined) {
    argument.argParser(parse);
  }
}
