/**
 * What may follow the words of an unfinished command line: commands, options, the choices of an option, and names from
 * the cluster and from the configuration file. The scripts of the shells ask for it at each press of the Tab key.
 */

import type { Command, Option } from "commander";

/** A word that may stand at the cursor. */
export interface Candidate {
  readonly value: string;
  /** For shells that show it; undefined = none. */
  readonly description?: string | undefined;
}

/** What may stand at the cursor. */
export interface Completion {
  readonly candidates: readonly Candidate[];
  /** Whether a file name may stand there too. */
  readonly files: boolean;
}

/** The words before the cursor, as the commands read them. */
interface Position {
  /** The innermost command that is named. */
  readonly command: Command;
  /** The option that takes the word at the cursor as its value; undefined = none. */
  readonly option: Option | undefined;
  /** How many arguments of the command stand before the cursor. */
  readonly argumentsBefore: readonly string[];
  /** Whether `--` stands before the cursor, so that no option can follow. */
  readonly isLiteral: boolean;
}

/** A value of an option or an argument, to be completed. */
export interface ValuePlace {
  /** Its name in the help, such as `NAMESPACE/KEY` or `FILE`. */
  readonly form: string;
  /** The names of the commands that lead to it, such as `kv get`. */
  readonly path: string;
  /** The arguments before it. */
  readonly argumentsBefore: readonly string[];
  /** What the user has typed of it. */
  readonly typed: string;
}

/** Names that begin with the typed text, by the form of the value; undefined = there is no list of such names. */
export type ListNames = (place: ValuePlace) => Promise<readonly Candidate[]> | undefined;

/** Forms of values that are files, or places that may be files. */
const FILE_FORMS = /FILE|LOCATION|COMMAND/;

/** The options of the program that take no part in a command. */
const ONLY_OF_PROGRAM = "--version";

/**
 * Completes the last of some words.
 *
 * @param program with all subcommands of the commands that the words name.
 * @param words without the name of the program; the last one is at the cursor, and may be empty.
 */
export async function complete(program: Command, words: readonly string[], listNames: ListNames): Promise<Completion> {
  const typed = words.at(-1) ?? "";
  const { command, option, argumentsBefore, isLiteral } = positionAfter(program, words.slice(0, -1));
  const path = pathOf(command, program);
  const place = (form: string, text: string): ValuePlace => ({ form, path, argumentsBefore, typed: text });
  if (option !== undefined) {
    return valuesOf(formOf(option.flags), option.argChoices, place, typed, listNames);
  }
  if (!isLiteral && typed.startsWith("-")) {
    return ofOption(program, command, typed, place, listNames);
  }
  const subcommands = command.createHelp().visibleCommands(command);
  if (command.commands.length > 0 && argumentsBefore.length === 0) {
    return startingWith(
      typed,
      subcommands
        .filter((one) => command.commands.includes(one))
        .map((one) => ({ value: one.name(), description: one.description() })),
    );
  }
  const { registeredArguments } = command;
  const last = registeredArguments.at(-1);
  const argument = registeredArguments[argumentsBefore.length] ?? (last?.variadic === true ? last : undefined);
  if (argument === undefined) {
    return { candidates: [], files: false };
  }
  return valuesOf(argument.name(), argument.argChoices, place, typed, listNames);
}

/** A command, and the words that may follow it: the names of its subcommands, and options. */
export interface ListedCommand {
  /** The words that lead to it, such as `kv put`; empty = the program. */
  readonly path: string;
  readonly words: readonly string[];
}

/** The program and all of its commands, each before its subcommands. */
export function listCommands(program: Command): readonly ListedCommand[] {
  const visit = (command: Command): readonly ListedCommand[] => {
    const flags = optionsOf(program, command).flatMap(({ short, long }) => [short, long]);
    const words = [...command.commands.map((one) => one.name()), ...flags].filter((word) => word !== undefined);
    return [{ path: pathOf(command, program), words }, ...command.commands.flatMap(visit)];
  };
  return visit(program);
}

/** Follows the words through commands, options and arguments. */
function positionAfter(program: Command, words: readonly string[]): Position {
  let command = program;
  let option: Option | undefined;
  let isLiteral = false;
  let argumentsBefore: readonly string[] = [];
  for (const word of words) {
    const subcommand = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (option !== undefined) {
      option = undefined;
    } else if (!isLiteral && word === "--") {
      isLiteral = true;
    } else if (!isLiteral && word.startsWith("-")) {
      const named = optionsOf(program, command).find(({ short, long }) => word === short || word === long);
      option = named?.required === true ? named : undefined;
    } else if (subcommand !== undefined && argumentsBefore.length === 0) {
      command = subcommand;
    } else {
      argumentsBefore = [...argumentsBefore, word];
    }
  }
  return { command, option, argumentsBefore, isLiteral };
}

/** The options that may follow a command: its own, and those of the program. */
function optionsOf(program: Command, command: Command): readonly Option[] {
  const own = command.createHelp().visibleOptions(command);
  if (command === program) {
    return own;
  }
  return [...own, ...program.options.filter(({ long, hidden }) => long !== ONLY_OF_PROGRAM && !hidden)];
}

/** Completes an option, or the value after its equals sign. */
async function ofOption(
  program: Command,
  command: Command,
  typed: string,
  place: (form: string, text: string) => ValuePlace,
  listNames: ListNames,
): Promise<Completion> {
  const options = optionsOf(program, command);
  const equals = typed.indexOf("=");
  if (equals < 0) {
    const flags = options.flatMap(({ short, long, description }) =>
      [long, short].filter((flag) => flag !== undefined).map((value) => ({ value, description })),
    );
    return startingWith(typed, flags);
  }
  const start = typed.slice(0, equals + 1);
  const option = options.find(({ long }) => `${long}=` === start);
  if (option === undefined) {
    return { candidates: [], files: false };
  }
  const { candidates, files } = await valuesOf(
    formOf(option.flags),
    option.argChoices,
    place,
    typed.slice(start.length),
    listNames,
  );
  return { candidates: candidates.map((one) => ({ ...one, value: `${start}${one.value}` })), files };
}

async function valuesOf(
  form: string,
  choices: readonly string[] | undefined,
  place: (form: string, text: string) => ValuePlace,
  typed: string,
  listNames: ListNames,
): Promise<Completion> {
  if (choices !== undefined) {
    return startingWith(
      typed,
      choices.map((value) => ({ value })),
    );
  }
  const names = listNames(place(form, typed));
  if (names !== undefined) {
    return startingWith(typed, await names);
  }
  return { candidates: [], files: FILE_FORMS.test(form) };
}

function startingWith(typed: string, candidates: readonly Candidate[]): Completion {
  return { candidates: candidates.filter(({ value }) => value.startsWith(typed)), files: false };
}

/** The form of an option's value: `FILE` of `--file <FILE>`. */
function formOf(flags: string): string {
  return /[<[]([^>\]]+)[>\]]/.exec(flags)?.[1] ?? "";
}

function pathOf(command: Command, program: Command): string {
  const { parent } = command;
  if (parent === null || command === program) {
    return "";
  }
  return `${pathOf(parent, program)} ${command.name()}`.trim();
}
