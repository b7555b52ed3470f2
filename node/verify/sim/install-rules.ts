/**
 * The rules of the snapshots that a process receives, by their first frames and by their results.
 *
 * A process receives a snapshot only if it holds something new for the member. It must not end where the log is known
 * to be committed, nor at an entry of the log. An installed state is always newer than the one before (P25).
 */

import type { SnapshotManifest } from "../../src/peers/index.ts";
import type { ReplicaStatus } from "../../src/replica/index.ts";
import { must } from "./rule-violation.ts";

/** What an observer sees of the process and its disk at any moment. */
export interface Receiving {
  readonly id: number;
  readonly status: () => Pick<ReplicaStatus, "commitIndex" | "lastIndex">;
  /** The term of an entry on its disk, undefined if there is none; and whether that is about to change. */
  readonly termOf: (index: number) => number | undefined;
  readonly isWriting: () => boolean;
}

type Offered = Pick<SnapshotManifest, "index" | "entryTerm">;

export class InstallRules {
  readonly #receiving: Receiving;
  /** The last offer, and what the member had then. */
  #offer: { readonly offered: Offered; readonly commitIndex: number; readonly isHeld: boolean } | null = null;

  constructor(receiving: Receiving) {
    this.#receiving = receiving;
  }

  /** A snapshot is offered, and judged in the same callback. */
  onOffer(offered: Offered): void {
    const { status, termOf, isWriting } = this.#receiving;
    const { commitIndex, lastIndex } = status();
    const isHeld = offered.index <= lastIndex && termOf(offered.index) === offered.entryTerm && !isWriting();
    this.#offer = { offered, commitIndex, isHeld };
  }

  /** The snapshot that was offered last is received. */
  onBegun(): void {
    const { id } = this.#receiving;
    const offer = this.#offer;
    must(offer !== null, "P25 what is received was offered", () => `m${id}`);
    const { offered, commitIndex, isHeld } = offer;
    const at = `${offered.index}/${offered.entryTerm}`;
    must(offered.index > commitIndex, "P25 no snapshot is received that ends at what is committed", () => {
      return `m${id}: ${at}, committed ${commitIndex}`;
    });
    must(!isHeld, "P25 no snapshot is received that ends at an entry of the log", () => `m${id}: ${at}`);
  }

  /** The state of a snapshot, applied up to `after`, has taken the place of the own one. */
  onInstalled(before: number, after: number): void {
    must(after > before, "P25 a snapshot never takes a member back", () => {
      return `m${this.#receiving.id} at ${after}, after ${before}`;
    });
  }
}
