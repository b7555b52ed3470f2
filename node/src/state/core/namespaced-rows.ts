/** The rows of a namespace in one table, and how they are erased when the namespace is deleted. */

import { withNul } from "../../bytes/index.ts";
import type { ApplyContext } from "./apply-context.ts";
import type { KeyRange, Row } from "./store.ts";

export interface NamespacedRows {
  rangeOf(namespace: string): KeyRange;
  /**
   * Erases what the row stands for, with all that belongs to it. Watchers get no change. Returns how many rows that
   * has read or changed, at least 1.
   */
  erase(context: ApplyContext, namespace: string, row: Row): number;
}

/** What one step may still read and change. */
export interface ErasureBudget {
  rows: number;
  /** Bytes of rows. */
  bytes: number;
}

/**
 * Erases rows of the namespace, beginning at the key, until the budget is used up. Returns the key at which to
 * continue; null if no row is left. A step that began at the first row would pass every row that is erased already: a
 * store on disk keeps a tombstone of each for a while.
 */
export function eraseRows(
  context: ApplyContext,
  namespace: string,
  { rangeOf, erase }: NamespacedRows,
  from: Uint8Array | null,
  budget: ErasureBudget,
): Uint8Array | null {
  const range = rangeOf(namespace);
  const rows: Row[] = [];
  let bytes = 0;
  context.transaction.scan(from ?? range.from, range.to, (row) => {
    rows.push(row);
    bytes += row.value.length;
    return rows.length < budget.rows && bytes < budget.bytes;
  });
  for (const row of rows) {
    budget.rows -= erase(context, namespace, row);
    budget.bytes -= row.value.length;
    if (budget.rows <= 0 || budget.bytes <= 0) {
      return withNul(row.key);
    }
  }
  return null;
}
