/**
 * Taking over a snapshot: which one this member receives, and how the log follows the state.
 *
 * An offer is stale, or unnecessary because the log contains the entry, or to be received. While this member receives a
 * snapshot, the log continues. An Append that extends the log, or another leader, cancels the snapshot; a newer offer
 * replaces it (P28). Once its state is in place nothing cancels it any more: the next write restarts the log after the
 * snapshot. Until the driver has switched over, this member takes no entries and no other offer. The driver receives,
 * checks and places the data.
 */

import { invariant, mark } from "../primitives/index.ts";
import type { CoreState } from "./core-state.ts";

/** A snapshot that a leader offers, named by the last entry whose effects it contains. */
export interface SnapshotOffer {
  readonly from: number;
  /** Term of the leader. */
  readonly term: number;
  /** Index and term of the last entry in it. */
  readonly index: number;
  readonly entryTerm: number;
}

/**
 * stale: useless now. matches: the log contains the snapshot's last entry, which is thereby known to be committed, so
 * no data is needed (P25). install: receive it.
 */
export type OfferVerdict = "stale" | "matches" | "install";

/** The log restarts after this entry. */
export interface LogReset {
  readonly index: number;
  readonly term: number;
}

export class Install {
  readonly #state: CoreState;
  #receiving: SnapshotOffer | null = null;
  /** Its state is in place. `writeSeq` is the write that makes the log follow, 0 until that write is handed out. */
  #placed: { readonly index: number; readonly term: number; writeSeq: number; isLogDurable: boolean } | null = null;
  #wasCancelled = false;
  #isNewlyDurable = false;

  constructor(state: CoreState) {
    this.#state = state;
  }

  /** Whether a snapshot is being received or has been placed. */
  get isUnderWay(): boolean {
    return this.#receiving !== null || this.#placed !== null;
  }

  /** Whether the state of a snapshot is in place and this member has not switched over yet. */
  get isPlaced(): boolean {
    return this.#placed !== null;
  }

  /** Judges an offer of the current leader. */
  offer(offer: SnapshotOffer): OfferVerdict {
    invariant(offer.term === this.#state.term, "offers of the present term are judged");
    if (this.#placed !== null || offer.index <= this.#state.commit) {
      mark("raft.snapshot.stale");
      return "stale";
    }
    if (this.#state.containsEntry(offer.index, offer.entryTerm)) {
      mark("raft.snapshot.matches");
      this.cancel();
      return "matches";
    }
    if (this.#receiving !== null && offer.index < this.#receiving.index) {
      mark("raft.snapshot.older-than-pending");
      return "stale";
    }
    this.#receiving = offer;
    return "install";
  }

  /** The snapshot that is being received is not wanted any more; informs the driver if there is one. */
  cancel(): void {
    if (this.#receiving !== null) {
      mark("raft.snapshot.cancelled");
      this.#receiving = null;
      this.#wasCancelled = true;
    }
  }

  /** Cancels the snapshot that is being received if it comes from another leader. */
  cancelUnlessFrom(leader: number): void {
    if (this.#receiving !== null && this.#receiving.from !== leader) {
      this.cancel();
    }
  }

  /** The driver has given up the snapshot that it was receiving. */
  abandon(): void {
    this.#receiving = null;
  }

  /** The state is in place. Returns false, and changes nothing, if the snapshot is not wanted any more. */
  place(index: number, term: number): boolean {
    const receiving = this.#receiving;
    if (receiving === null || receiving.index !== index || receiving.entryTerm !== term) {
      return false;
    }
    invariant(this.#placed === null, "one snapshot is installed at a time");
    invariant(index > this.#state.commit, "a snapshot only moves forward", () => {
      return `${index}, commit ${this.#state.commit}`;
    });
    invariant(term <= this.#state.term, "a snapshot is not of the future", () => `${term} > ${this.#state.term}`);
    this.#receiving = null;
    this.#placed = { index, term, writeSeq: 0, isLogDurable: false };
    this.#state.writes.markDirty();
    return true;
  }

  /** The write is about to be handed out: if a snapshot was placed since the last one, the log restarts after it. */
  takeReset(writeSeq: number): LogReset | null {
    const placed = this.#placed;
    if (placed === null || placed.writeSeq !== 0) {
      return null;
    }
    placed.writeSeq = writeSeq;
    const { index, term } = placed;
    // The log did not contain the entry at the offer, and any append since then would have cancelled the snapshot.
    invariant(!this.#state.containsEntry(index, term), "a log that holds the last entry of a snapshot needs none");
    this.#state.resetLog(index, term);
    return { index, term };
  }

  /** The write is durable. */
  durable(writeSeq: number): void {
    if (this.#placed !== null && this.#placed.writeSeq === writeSeq) {
      this.#placed.isLogDurable = true;
      this.#isNewlyDurable = true;
    }
  }

  /** The driver has switched over to the new state; returns the index of the snapshot. */
  finish(): number {
    const placed = this.#placed;
    invariant(placed?.isLogDurable === true, "a snapshot is installed after its log followed");
    this.#placed = null;
    return placed.index;
  }

  /** Whether a snapshot that was being received has become useless since the last call. */
  takeCancelled(): boolean {
    const wasCancelled = this.#wasCancelled;
    this.#wasCancelled = false;
    return wasCancelled;
  }

  /** Whether the log has durably followed a placed snapshot since the last call. */
  takeLogDurable(): boolean {
    const isNewlyDurable = this.#isNewlyDurable;
    this.#isNewlyDurable = false;
    return isNewlyDurable;
  }
}
