/** The rows of a state that are the same on all members, without those that belong to the store itself. */

import type { Row, StateReader } from "../src/state/index.ts";

const FIRST_KEY = Uint8Array.of(0);

/** The first key of the store's own rows. */
export const REPLICATED_ROWS_END = Uint8Array.of(0x79);

/** All rows of a replicated state, ascending by key. */
export function rowsOf(state: StateReader): Row[] {
  const rows: Row[] = [];
  state.scan(FIRST_KEY, REPLICATED_ROWS_END, (row) => rows.push(row) > 0);
  return rows;
}
