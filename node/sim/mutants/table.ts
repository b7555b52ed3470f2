/** Mutants and what caught them, as a table that people read. */

import type { Mutant } from "./mutant.ts";

export interface Row {
  readonly mutant: Mutant;
  /** By which it was caught, or what is wrong. */
  readonly rule: string;
  /** "" if there is none. */
  readonly killer: string;
  /** What the simulator says about it by the record. */
  readonly simulator: string;
}

const TITLES = ["mutant", "pitfall", "rule", "killer", "simulator"];
/** What is longer is cut. */
const CELL_MAX = 72;

/** A line for each, below one with titles. */
export function describeTable(rows: readonly Row[]): string {
  const cells = rows.map(({ mutant: { name, pitfall }, rule, killer, simulator }) => {
    return [name, pitfall, rule, killer, simulator].map(cut);
  });
  const all = [TITLES, ...cells];
  const widths = TITLES.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return lines.join("\n");
}

function cut(cell: string): string {
  return cell.length <= CELL_MAX ? cell : `${cell.slice(0, CELL_MAX - 1)}…`;
}
