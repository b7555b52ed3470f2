/**
 * The newest changes, in memory once for all watchers: who is not far behind need not read the history.
 *
 * Bounded by bytes; what falls out is in the history still. So a slow watcher holds a position and no changes.
 */

import { invariant } from "../raft/index.ts";
import type { SharedRevision } from "./shared-change.ts";

/** Room of entries that have fallen out is given back when they are more than the others, and more than this. */
const GONE_MAX = 1_024;

export class RecentChanges {
  readonly #bytesMax: number;
  #entries: SharedRevision[] = [];
  /** Entries before this position have fallen out. */
  #first = 0;
  #bytes = 0;
  #from: number;

  /**
   * @param from the revision from which on changes are added.
   * @param bytesMax of the history; encodings come on top, at most one of each variant. The newest revision is kept
   *   however large it is.
   */
  constructor(from: number, bytesMax: number) {
    this.#from = from;
    this.#bytesMax = bytesMax;
  }

  /** From this revision on, nothing that was added is missing. */
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
      // Its place is given back later, what it holds at once.
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

  /** Calls `visit` for the revisions from this one on, ascending, until it returns false. Not from before `from`. */
  visit(from: number, visit: (revision: SharedRevision) => boolean): void {
    invariant(from >= this.#from, "what has fallen out is read from the history");
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
