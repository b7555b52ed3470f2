/** A table of mutants and their killers, for people. */

import type { Mutant } from "./mutant.ts";

export interface Row {
  readonly mutant: Mutant;
  /** The rule that caught it, or the problem. */
  readonly rule: string;
  /** "" if there is none. */
  readonly killer: string;
  /** The recorded result of the simulator. */
  readonly simulator: string;
}

const TITLES = ["mutant", "pitfall", "rule", "killer", "simulator"];
/** Longer cells are cut. */
const CELL_MAX = 72;

/** A line with titles, then one for each mutant. */
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
