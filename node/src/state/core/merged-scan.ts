/** Scans of a store together with changes that are not written yet. */

import { compareBytes, isWithin } from "../../bytes/index.ts";
import type { Change, Row, StateReader } from "./store.ts";

/** The rows with from ≤ key < to that these changes put, ascending. */
export function rowsPut(changes: Iterable<Change>, from: Uint8Array, to: Uint8Array): Row[] {
  const rows: Row[] = [];
  for (const { key, value } of changes) {
    if (value !== null && isWithin(key, from, to)) {
      rows.push({ key, value });
    }
  }
  return rows.sort((a, b) => compareBytes(a.key, b.key));
}

/**
 * Calls `visit` for the rows of the store and of `put`, which lie in the range, in ascending order until it returns
 * false. Skips rows of the store for which `isChanged` returns true: they are in `put`, or deleted.
 */
export function scanMerged(
  store: StateReader,
  put: readonly Row[],
  isChanged: (key: Uint8Array) => boolean,
  from: Uint8Array,
  to: Uint8Array,
  visit: (row: Row) => boolean,
): void {
  let next = 0;
  let stopped = false;
  store.scan(from, to, (row) => {
    while (next < put.length && compareBytes((put[next] as Row).key, row.key) < 0) {
      if (!visit(put[next++] as Row)) {
        stopped = true;
        return false;
      }
    }
    if (isChanged(row.key)) {
      return true;
    }
    if (!visit(row)) {
      stopped = true;
      return false;
    }
    return true;
  });
  while (!stopped && next < put.length) {
    stopped = !visit(put[next++] as Row);
  }
}
