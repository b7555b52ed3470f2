/** Prints results on the standard output, as a table for people, or as JSON or YAML for programs. */

import { CommandError, EXIT_CODES } from "../errors/index.ts";
import type { Terminal } from "../terminal/index.ts";
import { isTerminalText } from "../text/index.ts";

/** The formats of `-o`. */
export const OUTPUT_FORMATS = ["table", "json", "yaml"] as const;

/** A format of `-o`. */
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** What a table shows as a text: a time in UTC, undefined as a hyphen, and control characters as escapes. */
export type Cell = string | number | boolean | Date | undefined;

/** Columns and rows, all of the same length. */
export interface TableContent {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** A result: a document of plain data for programs, and a form for people. */
export interface Result {
  readonly document: object;
  /** A table, or raw bytes. */
  readonly shown: TableContent | Uint8Array;
}

/**
 * Prints a result in a format.
 *
 * @throws CommandError for bytes that a terminal cannot show.
 */
export async function printResult(
  terminal: Pick<Terminal, "stdout" | "environment">,
  format: OutputFormat,
  { document, shown }: Result,
): Promise<void> {
  const { stdout, environment } = terminal;
  if (format === "json") {
    stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
  } else if (format === "yaml") {
    const { stringify } = await import("../yaml/index.ts");
    stdout.write(stringify(document));
  } else if (shown instanceof Uint8Array) {
    if (stdout.isTTY === true && !isTerminalText(shown)) {
      const hint = "write it to a file or a pipe, or pass --raw; -o json prints it in base64";
      throw new CommandError("the value is binary, and is not written to a terminal", EXIT_CODES.refused, hint);
    }
    stdout.write(shown);
  } else {
    const { renderTable } = await import("./table.ts");
    stdout.write(renderTable(shown, stdout.isTTY === true && (environment.NO_COLOR ?? "") === ""));
  }
}

/**
 * The text of one of many results, such as the events of a watch: a line of JSON, or a document of YAML.
 *
 * @returns undefined for tables.
 */
export async function streamFormatter(format: OutputFormat): Promise<((document: object) => string) | undefined> {
  if (format === "json") {
    return (document) => `${JSON.stringify(document)}\n`;
  }
  if (format === "table") {
    return undefined;
  }
  const { stringify } = await import("../yaml/index.ts");
  return (document) => `---\n${stringify(document)}`;
}
