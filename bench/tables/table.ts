/** Tables of figures in the terminal. */

import Table from "cli-table3";

/** The rows below their heads, all aligned to the right. */
export function tableOf(head: readonly string[], rows: readonly string[][]): string {
  const table = new Table({
    head: [...head],
    style: { head: [], border: [] },
    colAligns: head.map(() => "right" as const),
  });
  table.push(...rows);
  return table.toString();
}
