/** Results on the standard output, as a table for people, or as JSON or YAML for programs. */

import Table from "cli-table3";
import { stringify } from "yaml";
import type { Terminal } from "./terminal.ts";

/** The formats that `-o` takes. */
export const outputFormats = ["table", "json", "yaml"] as const;

/** A format that `-o` takes. */
export type OutputFormat = (typeof outputFormats)[number];

/** Columns and rows of texts, all of the same length. */
export interface TableContent {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A result: a document of plain data for programs, and what a person sees of it. */
export interface Result {
  readonly document: object;
  /** A table, or bytes that are printed as they are. */
  readonly shown: TableContent | Uint8Array;
}

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

/** Columns without lines around them, so that other programs can split them too. */
function renderTable({ columns, rows }: TableContent, inColour: boolean): string {
  const table = new Table({
    head: [...columns],
    chars: noLines,
    style: { "padding-left": 0, "padding-right": 0, head: inColour ? ["bold"] : [], border: [], compact: true },
  });
  for (const row of rows) table.push([...row]);
  const lines = table.toString().split("\n");
  return `${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}
