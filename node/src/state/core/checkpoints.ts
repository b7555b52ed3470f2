/**
 * The digests of the state at certain log indexes. Members compare them to find out whether they still have the same
 * state.
 *
 * The digest covers all changes ever applied: states that once write something different have different digests for
 * ever. It is kept in memory only, so a restarted member has none until it reaches the next checkpoint.
 */

import { invariant } from "../../primitives/index.ts";

export interface Checkpoint {
  /** Index of the entry after which the state has the digest. */
  readonly index: number;
  readonly digest: number;
}

/** How many are kept. Members report a digest once a second, and fewer checkpoints than this pass in that time. */
const KEPT_MAX = 64;

export class Checkpoints {
  readonly #entries: number;
  readonly #kept: Checkpoint[] = [];

  /** @param entries between two checkpoints; a checkpoint is at each multiple of it */
  constructor(entries: number) {
    invariant(entries > 0, "there are entries between two checkpoints");
    this.#entries = entries;
  }

  /** The newest one; null if there is none yet. */
  get newest(): Checkpoint | null {
    return this.#kept.at(-1) ?? null;
  }

  /** Notes the digest after the entry at the index. */
  onApplied(index: number, digest: number): void {
    if (index % this.#entries !== 0) {
      return;
    }
    this.#kept.push({ index, digest });
    if (this.#kept.length > KEPT_MAX) {
      this.#kept.shift();
    }
  }

  /** The digest at the index; undefined if it is not kept. */
  digestAt(index: number): number | undefined {
    return this.#kept.find((checkpoint) => checkpoint.index === index)?.digest;
  }
}
