/**
 * The digests of the state at certain indexes of the log, by which members find out whether they still have the same one.
 *
 * The digest runs over all changes that were ever applied: states that once differ in what they write, differ in it for
 * ever. Kept in memory only: a member that starts again has none until it comes to the next such index.
 */

import { invariant } from "../raft/index.ts";

export interface Checkpoint {
  /** Log index of the entry after which the digest is that of the state. */
  readonly index: number;
  readonly digest: number;
}

/** How many are kept: others are compared with by what they tell once a second, in which so many never pass. */
const KEPT_MAX = 64;

export class Checkpoints {
  readonly #entries: number;
  readonly #kept: Checkpoint[] = [];

  /** @param entries between two checkpoints; they are at the indexes that it divides. */
  constructor(entries: number) {
    invariant(entries > 0, "there are entries between two checkpoints");
    this.#entries = entries;
  }

  /** The newest one; null if there is none yet. */
  get newest(): Checkpoint | null {
    return this.#kept.at(-1) ?? null;
  }

  /** The entry at the index was applied, and made the digest what it is. */
  onApplied(index: number, digest: number): void {
    if (index % this.#entries !== 0) {
      return;
    }
    this.#kept.push({ index, digest });
    if (this.#kept.length > KEPT_MAX) {
      this.#kept.shift();
    }
  }

  /** The digest at the index; undefined if it is not kept, or not any more. */
  digestAt(index: number): number | undefined {
    return this.#kept.find((checkpoint) => checkpoint.index === index)?.digest;
  }
}
