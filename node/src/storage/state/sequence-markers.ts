/**
 * Milestones: numbered rows among unsynced batches. A gap in their numbers shows that batches are missing.
 *
 * After damage RocksDB may open a store that has its newest batches but lacks earlier ones, without an error. It takes
 * a truncated manifest for an older one, and does not miss a write-ahead log that was deleted. The applied index does
 * not show this, because it is among the newest rows. Such a loss covers a whole memtable, or everything that was in
 * memory when the store was last opened. So the first batch of each opening, and then one batch in every MiB, contains
 * the next number. At the next opening the newest numbers must be present without a gap.
 *
 * The rows are local to this copy of the store: they are not part of the replicated state.
 */

import { readUint53, writeUint53 } from "../../primitives/index.ts";
import type { Change } from "../../state/index.ts";
import { StoreError } from "../files/index.ts";
import type { Rocks } from "../rocks/index.ts";
import { MARKER_TABLE } from "./local-rows.ts";

const NUMBER_BYTES = 8;
const EMPTY = new Uint8Array(0);

/** A memtable holds at least eight times this, so every memtable contains a milestone. */
const SPACING_BYTES = 1024 * 1024;
/**
 * Number of the newest milestones that are kept. They span far more bytes than RocksDB ever has outside of its tables.
 */
const KEPT = 1024;

export class SequenceMarkers {
  #newest: number;
  #bytesSince = SPACING_BYTES;

  private constructor(newest: number) {
    this.#newest = newest;
  }

  /** Reads the milestones of the store. Raises a StoreError of kind "corruption" if one is missing. */
  static read(rocks: Rocks): SequenceMarkers {
    const numbers: number[] = [];
    rocks.scan(markerRow(0), new Uint8Array([MARKER_TABLE + 1]), ({ key }) => {
      numbers.push(readUint53(key, 1));
      return true;
    });
    const newest = numbers.at(-1) ?? 0;
    const oldest = Math.max(1, newest - KEPT + 1);
    if (numbers.some((number, at) => number !== oldest + at) || numbers.length !== newest - oldest + 1) {
      throw new StoreError("corruption", "the state has lost batches between older and newer ones");
    }
    return new SequenceMarkers(newest);
  }

  /** Returns the batch, with the next milestone if one is due. */
  addMarkers(changes: readonly Change[]): readonly Change[] {
    let bytes = 0;
    for (let at = 0; at < changes.length; at++) {
      const { key, value } = changes[at] as Change;
      bytes += key.length + (value === null ? 0 : value.length);
    }
    this.#bytesSince += bytes;
    if (this.#bytesSince < SPACING_BYTES) {
      return changes;
    }
    this.#bytesSince = 0;
    this.#newest++;
    const marked: Change[] = [...changes, { key: markerRow(this.#newest), value: EMPTY }];
    if (this.#newest > KEPT) {
      marked.push({ key: markerRow(this.#newest - KEPT), value: null });
    }
    return marked;
  }
}

function markerRow(number: number): Uint8Array {
  const key = new Uint8Array(1 + NUMBER_BYTES);
  key[0] = MARKER_TABLE;
  writeUint53(key, 1, number);
  return key;
}
