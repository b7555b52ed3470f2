/**
 * Flags as values, in tables. An entry says everything about one flag: the parser, the help, the manual, and the type of
 * the value follow from it. Rules about several flags are functions of their values.
 */

import { type Command, Option } from "commander";
import { requireUsage } from "./arguments.ts";
import { parseBoolean } from "./values.ts";

/** One flag. Without a default, its value is null if it is not given. */
class Flag<Value> extends Option {
  /** Only a type. */
  declare readonly value: Value;
  /** The value if the flag is not given. */
  absent: unknown = null;
  /** As a person would write it; empty = none. */
  defaultText = "";

  mustBeGiven(): Flag<NonNullable<Value>> {
    this.makeOptionMandatory();
    return this as unknown as Flag<NonNullable<Value>>;
  }

  /** @param text of the default, which the flag must be able to parse */
  byDefault(text: string): Flag<NonNullable<Value>> {
    this.absent = this.parseArg === undefined ? text : this.parseArg(text, undefined);
    return this.shownDefault(text) as unknown as Flag<NonNullable<Value>>;
  }

  /** Shows a default that is not decided here, because it depends on other flags. */
  shownDefault(text: string): this {
    this.defaultText = text;
    this.description += text === "" ? "" : ` (default: ${text})`;
    return this;
  }

  /** A variable of the environment can replace the flag: `QUOIN_` and the name of the flag. */
  withVariable(): this {
    return this.env(`QUOIN_${this.name().toUpperCase().replaceAll("-", "_")}`);
  }
}

export type FlagTable = Readonly<Record<string, Flag<unknown>>>;

/** The values of the flags of a table, after parsing. */
export type FlagValues<Table extends FlagTable> = { readonly [Key in keyof Table]: Table[Key]["value"] };

/**
 * A flag with a value, which is the text unless there is a parser.
 *
 * @param usage such as `--name <name>`, or `--names <name...>` for several texts
 */
export function flag(usage: `${string}...>`, help: string): Flag<readonly string[] | null>;
export function flag(usage: string, help: string): Flag<string | null>;
export function flag<Value>(usage: string, help: string, parse: (text: string) => Value): Flag<Value | null>;
export function flag(usage: string, help: string, parse?: (text: string) => unknown): Flag<unknown> {
  const created = new Flag<unknown>(usage, help);
  return parse === undefined ? created : created.argParser(parse);
}

/** A flag that is on if it is given, or off if its name begins with `no-`. With `[boolean]`, it takes a value too. */
export function toggle(usage: string, help: string): Flag<boolean> {
  const created = new Flag<boolean>(usage, help);
  created.absent = false;
  return created.optional ? created.argParser(parseBoolean).preset("true") : created;
}

/** A flag that can be repeated. The parser gets the value so far, which begins with `absent`. */
export function repeated<Value>(
  usage: string,
  help: string,
  collect: (text: string, before: Value) => Value,
  absent: Value,
): Flag<Value> {
  const created = new Flag<Value>(usage, help);
  created.absent = absent;
  return created.argParser<Value | undefined>((text, before = absent) => collect(text, before));
}

/** Adds the flags of the table to the program, under a heading of its help. */
export function addFlags(program: Command, table: FlagTable, heading = "Options"): Command {
  for (const one of Object.values(table)) {
    program.addOption(one.helpGroup(`${heading}:`));
  }
  return program;
}

/** The values of the table, after the program has parsed its arguments. */
export function valuesOf<Table extends FlagTable>(program: Command, table: Table): FlagValues<Table> {
  const values = Object.entries(table).map(([key, one]) => [
    key,
    program.getOptionValue(one.attributeName()) ?? one.absent,
  ]);
  return Object.fromEntries(values);
}

/** Raises UsageError for the first of these values that is given: its flag means nothing without the needed one. */
export function requireNone<Table extends FlagTable>(
  table: Table,
  values: Partial<FlagValues<Table>>,
  needed: string,
): void {
  for (const [key, value] of Object.entries(values)) {
    requireUsage(value === table[key]?.absent, `${table[key]?.long} needs ${needed}`);
  }
}
