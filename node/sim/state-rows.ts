/**
 * The rows of one state store on a disk, and which of them are synced.
 *
 * A process that is killed loses nothing of what it wrote. A loss of power takes the batches since the last sync, but
 * for the first few of them.
 */

import { crc32 } from "node:zlib";
import { type Change, type KeyRange, type Row, readProgress } from "../src/state/index.ts";
import { MemoryStateStore } from "../test/index.ts";

interface Step {
  readonly changes: readonly Change[];
  readonly dropped: readonly KeyRange[];
}

export class StateRows extends MemoryStateStore {
  /** The snapshot that it was received as. */
  installed: { readonly index: number; readonly term: number } | null = null;
  #synced: readonly Row[] = [];
  /** Batches and deletions of ranges, each a step of its own: a loss of power may come between them. */
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

  /** Every batch so far outlives a loss of power. */
  markSynced(): void {
    this.#synced = this.copy();
    this.#unsynced = [];
  }

  /** Keeps what is synced, and this share of the batches after it. */
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

  /** A number by which two states are told apart, and where they have come to. */
  fingerprint(): { readonly index: number; readonly sum: number } {
    return { index: readProgress(this).appliedIndex, sum: fingerprintOf(this.copy()) };
  }
}

/** A checksum that differs where two lists of rows differ. */
export function fingerprintOf(rows: readonly Row[]): number {
  let sum = 0;
  for (const { key, value } of rows) {
    sum = crc32(value, crc32(key, sum));
  }
  return sum;
}
