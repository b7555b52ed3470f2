/**
 * The newest changes, in memory once for all watchers. A watcher that is only slightly behind need not read the
 * history.
 *
 * The number of bytes is bounded. A change that is dropped here is still in the history, so a slow watcher costs a
 * position and no memory for changes.
 */

import { invariant } from "../primitives/index.ts";
import type { SharedRevision } from "./shared-change.ts";

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
   * @param bytesMax by size in the history. Encodings come on top, at most one of each variant. The newest revision
   * stays however large it is.
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
    this.#bytes += revision.bytes;
    while (this.#bytes > this.#bytesMax && this.#first < this.#entries.length - 1) {
      const gone = this.#entries[this.#first] as SharedRevision;
      // Free its content now and its place later.
      this.#entries[this.#first] = { revision: gone.revision, changes: [], bytes: 0 };
      this.#first++;
      this.#bytes -= gone.bytes;
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
