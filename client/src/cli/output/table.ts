/** Tables for people: columns without lines around them. */

import Table from "cli-table3";
import { escapeControls } from "../text/index.ts";
import type { Cell, TableContent } from "./output.ts";

/** Bold and normal intensity (ECMA-48: SGR). */
const BOLD = "\u001b[1m";
const NOT_BOLD = "\u001b[22m";

/** Rows in one slice of a table: few enough that the time for a long table grows only with its length. */
const ROWS_AT_A_TIME = 25;

const NO_LINES = {
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

/**
 * Columns without lines around them, so that other programs can split them too. Long tables are rendered in slices of
 * the same widths, because the time of the library grows with the square of the number of rows.
 */
export function renderTable({ columns, rows }: TableContent, inColour: boolean): string {
  const slices = Array.from({ length: Math.max(1, Math.ceil(rows.length / ROWS_AT_A_TIME)) }, (_, index) =>
    rows.slice(index * ROWS_AT_A_TIME, (index + 1) * ROWS_AT_A_TIME),
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
    head: head.map((name) => (inColour ? `${BOLD}${name}${NOT_BOLD}` : name)),
    colWidths: [...widths],
    chars: NO_LINES,
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [], compact: true },
  });
  for (const row of rows) {
    table.push(row.map(textOf));
  }
  return table;
}

function textOf(cell: Cell): string {
  if (cell === undefined) {
    return "-";
  }
  return escapeControls(cell instanceof Date ? cell.toISOString() : String(cell));
}
