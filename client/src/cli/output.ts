/** Prints results on the standard output, as a table for people, or as JSON or YAML for programs. */

import { styleText } from "node:util";
import Table from "cli-table3";
import { stringify } from "yaml";
import type { Terminal } from "./terminal.ts";

/** The formats of `-o`. */
export const outputFormats = ["table", "json", "yaml"] as const;

/** A format of `-o`. */
export type OutputFormat = (typeof outputFormats)[number];

/** Columns and rows of texts, all of the same length. */
export interface TableContent {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A result: a document of plain data for programs, and a form for people. */
export interface Result {
  readonly document: object;
  /** A table, or raw bytes. */
  readonly shown: TableContent | Uint8Array;
}

/** Rows in one slice of a table: few enough that the time for a long table grows only with its length. */
const rowsAtATime = 25;

const noLines = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};

/** Prints a result in a format. */
export function printResult(
  terminal: Pick<Terminal, "stdout" | "environment">,
  format: OutputFormat,
  result: Result,
): void {
  if (format === "json") {
    terminal.stdout.write(`${JSON.stringify(result.document, undefined, 2)}\n`);
  } else if (format === "yaml") {
    terminal.stdout.write(stringify(result.document));
  } else if (result.shown instanceof Uint8Array) {
    terminal.stdout.write(result.shown);
  } else {
    const inColour = terminal.stdout.isTTY === true && (terminal.environment.NO_COLOR ?? "") === "";
    terminal.stdout.write(renderTable(result.shown, inColour));
  }
}

/**
 * Columns without lines around them, so that other programs can split them too. Long tables are rendered in slices of
 * the same widths, because the time of the library grows with the square of the number of rows.
 */
function renderTable({ columns, rows }: TableContent, inColour: boolean): string {
  const slices = Array.from({ length: Math.max(1, Math.ceil(rows.length / rowsAtATime)) }, (_, index) =>
    rows.slice(index * rowsAtATime, (index + 1) * rowsAtATime),
  );
  const widths = columns.map(() => 0);
  for (const slice of slices) {
    const table = createTable(columns, slice, { widths: [], inColour: false });
    // Only now does the library know its column widths.
    table.toString();
    for (const [index, width] of table.options.colWidths.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, width ?? 0);
    }
  }
  const text = slices
    .map((slice, index) => createTable(index === 0 ? columns : [], slice, { widths, inColour }).toString())
    .join("\n");
  return text.replaceAll(/ *$/gm, "").concat("\n");
}

function createTable(
  head: readonly string[],
  rows: TableContent["rows"],
  { widths, inColour }: { readonly widths: readonly number[]; readonly inColour: boolean },
): Table.Table {
  const table = new Table({
    // The table library would use the environment of the process to decide about colours, which is already decided.
    head: head.map((name) => (inColour ? styleText("bold", name, { validateStream: false }) : name)),
    colWidths: [...widths],
    chars: noLines,
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [], compact: true },
  });
  for (const row of rows) table.push([...row]);
  return table;
}
