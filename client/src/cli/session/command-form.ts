/**
 * Commands as values: the usage, the options and the help of a command are data, and the types of what it reads follow
 * from them.
 */

import type { Argument, Command } from "commander";
import { addOptions, type OptionsOf, type OptionTable } from "../arguments/index.ts";
import type { Session } from "./session.ts";

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

/** What commander gives to a command: the values of its arguments, and its options. */
type Given<Usage, Options, Arguments> = [...ValuesOf<Usage, Arguments>, OptionsOf<Options>];

/** What a command has besides its usage. */
export interface CommandForm<Usage extends string, Options extends OptionTable, Arguments extends ArgumentTable> {
  /** Arguments with more than a name, by their names in the usage. */
  readonly arguments?: Arguments;
  readonly options?: Options;
  /** The first line of the help, if it is not that of the options and arguments. */
  readonly usage?: string;
  /** What follows the options in the help. */
  readonly help?: string;
  /** Runs the command with the values of its arguments, and with its options. */
  readonly run: (session: Session, ...values: Given<Usage, Options, Arguments>) => Promise<void>;
}

/** Adds what it describes to a command. */
export type CompleteCommand = (command: Command, session: Session) => void;

/**
 * A command of a group.
 *
 * @param usage its name and its arguments, such as `put <NAMESPACE/KEY> [VALUE]`.
 */
export function command<
  const Usage extends string,
  Options extends OptionTable = Record<never, never>,
  Arguments extends ArgumentTable = Record<never, never>,
>(
  usage: Usage,
  { description, ...form }: CommandForm<Usage, Options, Arguments> & { readonly description: string },
): CompleteCommand {
  return (group, session) => complete(group.command(usage).description(description), session, form);
}

/**
 * A command of the first level, which has its name and its description already.
 *
 * @param usage its arguments, such as `[EMAIL]`; empty = none.
 */
export function firstCommand<
  const Usage extends string,
  Options extends OptionTable = Record<never, never>,
  Arguments extends ArgumentTable = Record<never, never>,
>(usage: Usage, form: CommandForm<Usage, Options, Arguments>): CompleteCommand {
  return (command, session) => complete(usage === "" ? command : command.arguments(usage), session, form);
}

/**
 * A group of commands.
 *
 * @param help what follows the commands in the help of the group; empty = nothing.
 */
export function commandGroup(help: string, commands: readonly CompleteCommand[]): CompleteCommand {
  return (group, session) => {
    group.addHelpText("after", help);
    for (const add of commands) {
      add(group, session);
    }
  };
}

function complete<Usage extends string, Options extends OptionTable, Arguments extends ArgumentTable>(
  command: Command,
  session: Session,
  { arguments: table, options, usage, help = "", run }: CommandForm<Usage, Options, Arguments>,
): void {
  for (const argument of command.registeredArguments) {
    describe(argument, table?.[argument.name()] ?? {});
  }
  addOptions(command, options ?? {});
  if (usage !== undefined) {
    command.usage(usage);
  }
  command.addHelpText("after", help);
  command.action((...values: Given<Usage, Options, Arguments>) => run(session, ...values));
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
