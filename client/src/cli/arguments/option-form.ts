/**
 * The options of a command, as a table. The name of an option in the table gives its flag: `ifRevision` is
 * `--if-revision`. The declaration checks the value, and gives it its type: a command only reads it.
 */

import { type Command, Option } from "commander";

/** How an option looks in the help, and how its value is read; undefined as a value = not given. */
export class OptionForm<Value> {
  /** Makes the option for a flag such as `--if-revision`. */
  readonly make: (flag: string) => Option;

  constructor(make: (flag: string) => Option) {
    this.make = make;
  }

  /** @param shown the value in the help; default: as it is. */
  byDefault(value: Value & {}, shown?: string): OptionForm<Value & {}> {
    return new OptionForm((flag) => this.make(flag).default(value, shown));
  }

  /** Refuses a command line without the option. */
  mandatory(): OptionForm<Value & {}> {
    return new OptionForm((flag) => this.make(flag).makeOptionMandatory());
  }

  /** Refuses a command line that has one of these options too, by their names in the table. */
  without(...others: readonly string[]): OptionForm<Value> {
    return new OptionForm((flag) => this.make(flag).conflicts([...others]));
  }
}

/** The options of a command, by name, in the order of the help; undefined = the command does not have it. */
export type OptionTable = Readonly<Record<string, OptionForm<unknown> | undefined>>;

/** What a command reads of its options. */
export type OptionsOf<Table> = {
  readonly [Name in keyof Table as undefined extends ValueOf<Table[Name]> ? never : Name]: ValueOf<Table[Name]>;
} & {
  readonly [Name in keyof Table as undefined extends ValueOf<Table[Name]> ? Name : never]?: ValueOf<Table[Name]> & {};
};

type ValueOf<Form> = Form extends OptionForm<infer Value> ? Value : undefined;

/** An option that is given or not. */
export function flag(description: string): OptionForm<boolean | undefined> {
  return new OptionForm((name) => new Option(name, description));
}

/**
 * An option with a value.
 *
 * @param form the word for the value in the help, such as `<N>`.
 * @param parse throws InvalidArgumentError of commander with the rule for the value; commander adds the name of the option.
 */
export function option(form: string, description: string): OptionForm<string | undefined>;
export function option<Value>(
  form: string,
  description: string,
  parse: (text: string) => Value,
): OptionForm<Value | undefined>;
export function option(form: string, description: string, parse = (text: string): unknown => text) {
  return new OptionForm((name) => new Option(`${name} ${form}`, description).argParser(parse));
}

/** An option whose value is one of some words. */
export function choice<Choice extends string>(
  form: string,
  description: string,
  choices: readonly Choice[],
): OptionForm<Choice | undefined> {
  return new OptionForm((name) => new Option(`${name} ${form}`, description).choices(choices));
}

/** Adds the options of a table to a command. */
export function addOptions(command: Command, table: OptionTable): void {
  for (const [name, form] of Object.entries(table)) {
    const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (form !== undefined) {
      command.addOption(form.make(flag));
    }
  }
}
