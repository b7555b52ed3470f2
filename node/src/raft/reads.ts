/**
 * Linearizable read points (ReadIndex, Ongaro 2014 §6.4).
 *
 * Each request gets a position, which only grows; asking again is a new position (P9). One confirmation answers every
 * position up to it. A read point is the commit index at the time of asking, and never below the first entry of the
 * leader's term, because only from there on does the leader know everything that was committed before it (P7).
 */

import { invariant, safeCount } from "./violation.ts";

export class Reads {
  readonly #max: number;
  #position = 0;
  /** Positions that wait: all above this one. */
  #settled = 0;
  /** Commit index when the newest waiting position was asked: reaching it serves every older one too. */
  #index = 0;
  #lost = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** A new position, asked while `commit` was the commit index. */
  ask(commit: number): number {
    this.#position = safeCount(this.#position + 1, "read position");
    invariant(commit >= this.#index, "the commit index never falls", () => `${commit} < ${this.#index}`);
    this.#index = commit;
    if (this.#position - this.#settled > this.#max) {
      this.loseAll();
    }
    return this.#position;
  }

  /** A new position that is lost at once: this member has no way to confirm it. */
  refuse(): number {
    this.#position = safeCount(this.#position + 1, "read position");
    this.loseAll();
    return this.#position;
  }

  /** Confirms every waiting position; null if none waits. */
  confirmAll(commit: number, termStart: number): { readonly position: number; readonly index: number } | null {
    if (this.#settled === this.#position) {
      return null;
    }
    const index = Math.max(this.#index, termStart);
    invariant(index <= commit, "read points are committed", () => `${index} > ${commit}`);
    this.#settled = this.#position;
    return { position: this.#position, index };
  }

  /** Positions that wait now will never be confirmed. */
  loseAll(): void {
    if (this.#settled < this.#position) {
      this.#settled = this.#position;
      this.#lost = this.#position;
    }
  }

  /** The highest position lost since the last call, 0 if none. */
  takeLost(): number {
    const lost = this.#lost;
    this.#lost = 0;
    return lost;
  }
}
