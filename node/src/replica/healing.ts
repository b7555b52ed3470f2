/**
 * How a member that has lost acknowledged data gets its vote back (P46).
 *
 * Its peers know of the damage from the handshakes of this start, so what it has said before counts for nothing. It
 * asks the leader for a read point, which is at or above everything that its lost acknowledgements may have helped to
 * commit, because no quorum that elects is without a healthy member that has it. Once its log durably reaches that
 * point and knows it as committed, what it acknowledges and votes is true again.
 */

import { invariant, mark, type RaftCore } from "../raft/index.ts";

export class Healing {
  readonly #core: RaftCore;
  /** Term of the leader that was asked, and the position of the question; 0 = none is open. */
  #term = 0;
  #position = 0;
  /** What the log must reach; null = not known yet. */
  #readIndex: number | null = null;

  constructor(core: RaftCore) {
    this.#core = core;
  }

  /** Asks the leader if there is one that was not asked; returns whether everything is there again. */
  proceed(): boolean {
    const { role, leader, term } = this.#core;
    invariant(role !== "leader", "a damaged member does not lead");
    if (this.#readIndex === null) {
      if (this.#position === 0 && role === "follower" && leader !== 0) {
        mark("replica.healing.asked");
        this.#term = term;
        this.#position = this.#core.readIndex();
      }
      return false;
    }
    return this.#core.commitIndex >= this.#readIndex && this.#core.stableIndex >= this.#readIndex;
  }

  /** Positions up to this one are confirmed at the index. */
  onReads(position: number, index: number): void {
    if (!this.#isOpen(position)) {
      return;
    }
    if (this.#core.term === this.#term) {
      this.#readIndex = index;
    } else {
      // That leader is gone since, in the same turn: the next one is asked, and this position is never told again.
      mark("replica.healing.answer-of-old-term");
      this.#position = 0;
    }
  }

  /** Positions up to this one are lost. */
  onReadsLost(position: number): void {
    if (this.#isOpen(position)) {
      this.#position = 0;
    }
  }

  /** Whether the question is among those up to this position, and not answered. */
  #isOpen(position: number): boolean {
    return this.#position !== 0 && this.#position <= position && this.#readIndex === null;
  }
}
