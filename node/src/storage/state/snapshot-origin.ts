/**
 * The mark of a state that was installed as a snapshot: the last entry that the snapshot contained.
 *
 * Between placing such a state and resetting the log behind it, the log does not know that entry. A start that finds
 * log and state apart accepts this only if this row explains it (rule 7 of the start).
 */

import { readUint53, writeUint53 } from "../../primitives/index.ts";
import type { StateReader } from "../../state/index.ts";
import { StoreError } from "../files/index.ts";
import { SNAPSHOT_ORIGIN_ROW } from "./local-rows.ts";

/** An entry of the log. */
export interface SnapshotOrigin {
  readonly index: number;
  readonly term: number;
}

const TERM_OFFSET = 8;
const VALUE_BYTES = 16;

/** Value of the row: index and term, eight bytes each, big-endian. */
export function encodeSnapshotOrigin(origin: SnapshotOrigin): Uint8Array {
  const value = new Uint8Array(VALUE_BYTES);
  writeUint53(value, 0, origin.index);
  writeUint53(value, TERM_OFFSET, origin.term);
  return value;
}

/**
 * The last entry of the snapshot that the state began as; null if there was none. Raises a StoreError ("corruption").
 */
export function readSnapshotOrigin(state: Pick<StateReader, "get">): SnapshotOrigin | null {
  const value = state.get(SNAPSHOT_ORIGIN_ROW);
  if (value === undefined) {
    return null;
  }
  if (value.length !== VALUE_BYTES) {
    throw new StoreError("corruption", "the state does not say which snapshot it began as");
  }
  return { index: readUint53(value, 0), term: readUint53(value, TERM_OFFSET) };
}
