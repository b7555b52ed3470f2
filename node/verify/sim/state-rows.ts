/**
 * The rows of one state store on a disk, and which of them are synced.
 *
 * A killed process loses none of its writes. A power cut removes the batches since the last sync, except for the first
 * few of them.
 */

import { crc32 } from "node:zlib";
import { type Change, type KeyRange, type Row, readProgress } from "../../src/state/index.ts";
import { MemoryStateStore } from "../../test/index.ts";

interface Step {
  readonly changes: readonly Change[];
  readonly dropped: readonly KeyRange[];
}

export class StateRows extends MemoryStateStore {
  /** The snapshot that it was received as. */
  installed: { readonly index: number; readonly term: number } | null = null;
  #synced: readonly Row[] = [];
  /** Batches and deletions of ranges, each a separate step: a power cut may come between them. */
  #unsynced: Step[] = [];

  override write(changes: readonly Change[], dropped: readonly KeyRange[] = []): void {
    super.write(changes, dropped);
    // Copies: the caller may use its buffers again.
    const copies = changes.map(({ key, value }) => ({
      key: new Uint8Array(key),
      value: value === null ? null : new Uint8Array(value),
    }));
    this.#unsynced.push({ changes: copies, dropped: [] });
    for (const { from, to } of dropped) {
      this.#unsynced.push({ changes: [], dropped: [{ from: new Uint8Array(from), to: new Uint8Array(to) }] });
    }
  }

  /** All rows as they are now, ascending by key. */
  all(): readonly Row[] {
    return this.copy();
  }

  /** Every batch so far survives a power cut. */
  markSynced(): void {
    this.#synced = this.copy();
    this.#unsynced = [];
  }

  /** Keeps the synced rows, and this share of the batches after them. */
  losePower(keptShare: number): void {
    const kept = this.#unsynced.slice(0, Math.floor(this.#unsynced.length * keptShare));
    const before = new StateRows();
    MemoryStateStore.prototype.write.call(before, this.#synced);
    this.become(before);
    for (const { changes, dropped } of kept) {
      super.write(changes, dropped);
    }
    this.markSynced();
  }

  /** A number that distinguishes two states, and the index of this one. */
  fingerprint(): { readonly index: number; readonly sum: number } {
    return { index: readProgress(this).appliedIndex, sum: fingerprintOf(this.copy()) };
  }
}

/** A checksum that differs between different lists of rows. */
export function fingerprintOf(rows: readonly Row[]): number {
  let sum = 0;
  for (const { key, value } of rows) {
    sum = crc32(value, crc32(key, sum));
  }
  return sum;
}
