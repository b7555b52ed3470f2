/**
 * How a member that has lost acknowledged data gets its vote back (P46).
 *
 * The handshakes of this process inform its peers of the damage, so that they ignore its earlier acknowledgements. The
 * member asks the leader for a read index. That index covers everything that its lost acknowledgements may have helped
 * to commit, because every quorum that elects a leader contains a healthy member with those entries. The member may
 * vote and acknowledge again once its log durably reaches that index and knows it as committed.
 */

import { invariant, mark } from "../../primitives/index.ts";
import type { RaftCore } from "../../raft/index.ts";

export class DataLossRecovery {
  readonly #core: RaftCore;
  /** Term of the leader that was asked, and the position of the request; 0 = no request is open. */
  #term = 0;
  #position = 0;
  /** The index that the log must reach; null = not known yet. */
  #readIndex: number | null = null;

  constructor(core: RaftCore) {
    this.#core = core;
  }

  /** Asks the leader unless a request is open. Returns whether all lost data is back. */
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
      // That leader was replaced in the same turn. Ask the next one; this position is never confirmed again.
      mark("replica.healing.answer-of-old-term");
      this.#position = 0;
    }
  }

  /** Positions up to this one will never be confirmed. */
  onReadsFailed(position: number): void {
    if (this.#isOpen(position)) {
      this.#position = 0;
    }
  }

  /** Whether the open request is at or before this position and has no answer. */
  #isOpen(position: number): boolean {
    return this.#position !== 0 && this.#position <= position && this.#readIndex === null;
  }
}
