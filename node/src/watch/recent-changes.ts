/**
 * The newest changes, in memory once for all watchers. A watcher that is only slightly behind need not read the
 * history.
 *
 * The number of bytes is bounded. A change that is dropped here is still in the history, so a slow watcher costs a
 * position and no memory for changes.
 */

import { invariant } from "../primitives/index.ts";
import type { SharedRevision } from "./shared-change.ts";

/**
 * Memory of a change besides its bytes in the history: its objects, views and one encoding. Measured: 2 KB in an hour of
 * small changes.
 */
export const CHANGE_BYTES = 2_048;
/** Shorten the array when the dropped entries outnumber the others and this limit. */
const GONE_MAX = 1_024;

export class RecentChanges {
  readonly #bytesMax: number;
  #entries: SharedRevision[] = [];
  /** Entries before this position have been dropped. */
  #first = 0;
  #bytes = 0;
  #from: number;

  /**
   * @param from the first revision that will be added.
   * @param bytesMax of memory, by an estimate. Encodings of further variants come on top. The newest revision stays
   * however large it is.
   */
  constructor(from: number, bytesMax: number) {
    this.#from = from;
    this.#bytesMax = bytesMax;
  }

  /** No revision from this one on is missing. */
  get from(): number {
    return this.#from;
  }

  add(revision: SharedRevision): void {
    const newest = this.#entries.at(-1)?.revision ?? this.#from - 1;
    invariant(revision.revision > newest, "changes come in the order of their revisions");
    this.#entries.push(revision);
    this.#bytes += memoryOf(revision);
    while (this.#bytes > this.#bytesMax && this.#first < this.#entries.length - 1) {
      const gone = this.#entries[this.#first] as SharedRevision;
      // Free its content now and its place later.
      this.#entries[this.#first] = { revision: gone.revision, changes: [], bytes: 0 };
      this.#first++;
      this.#bytes -= memoryOf(gone);
      this.#from = gone.revision + 1;
    }
    if (this.#first > GONE_MAX && this.#first > this.#entries.length / 2) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
  }

  /**
   * Calls `visit` for the revisions from this one on, ascending, until it returns false. `from` must not be less than
   * `this.from`.
   */
  visit(from: number, visit: (revision: SharedRevision) => boolean): void {
    invariant(from >= this.#from, "dropped changes are read from the history");
    let low = this.#first;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle] as SharedRevision).revision < from) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    while (low < this.#entries.length && visit(this.#entries[low] as SharedRevision)) {
      low++;
    }
  }
}

function memoryOf({ bytes, changes }: SharedRevision): number {
  return bytes + changes.length * CHANGE_BYTES;
}
