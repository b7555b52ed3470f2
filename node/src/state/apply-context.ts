/** What applying one entry may read and change: rows, clocks, the revision and the counters. */

import { invariant, type Origin, safeCount } from "../raft/index.ts";
import type { Checkpoint } from "./checkpoints.ts";
import { CoordinationError } from "./coordination-error.ts";
import type { StateLimits } from "./limits.ts";
import type { Outcome } from "./outcome.ts";
import type { Progress } from "./progress.ts";
import type { Transaction } from "./transaction.ts";

/** What became of an acquisition that had to wait: the answer of whoever waits for this attempt. */
export interface SettledWait {
  readonly attempt: Origin;
  readonly outcome: Outcome;
}

export class ApplyContext {
  readonly transaction: Transaction;
  readonly limits: StateLimits;
  /** Log index of the entry. */
  readonly index: number;
  /** Greatest cluster tick of the log up to this entry; never runs back. */
  readonly tickMs: number;
  readonly wallMs: number;
  /** The attempt that the entry is. */
  readonly origin: Origin;
  /** Waits that this entry ended, in their order. */
  readonly settled: SettledWait[] = [];
  /** The digest that the cluster has at a checkpoint, if this entry tells it. */
  told: Checkpoint | null = null;
  /** By how many bytes memory regions have grown, or shrunk. */
  memoryChange = 0;
  #revision: number;
  #dataBytes: number;
  #expiringKeys: number;
  #replays: number;
  #lockTimers: number;

  constructor(
    transaction: Transaction,
    limits: StateLimits,
    before: Progress,
    entry: { readonly index: number; readonly tickMs: number; readonly wallMs: number; readonly origin: Origin },
  ) {
    this.transaction = transaction;
    this.limits = limits;
    this.index = entry.index;
    this.tickMs = Math.max(before.tickMs, entry.tickMs);
    this.wallMs = Math.max(before.wallMs, entry.wallMs);
    this.origin = entry.origin;
    this.#revision = before.revision;
    this.#dataBytes = before.dataBytes;
    this.#expiringKeys = before.expiringKeys;
    this.#replays = before.replays;
    this.#lockTimers = before.lockTimers;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Takes the next revision, for one visible change. */
  nextRevision(): number {
    this.#revision = safeCount(this.#revision + 1, "revision");
    return this.#revision;
  }

  /** Refuses with QUOTA if this many more bytes of data would exceed the limit. */
  requireRoom(bytes: number): void {
    if (bytes > 0 && this.#dataBytes + bytes > this.limits.dataBytesMax) {
      throw new CoordinationError(
        "QUOTA",
        `the cluster holds ${this.#dataBytes} of at most ${this.limits.dataBytesMax} bytes of data; delete keys first`,
      );
    }
  }

  /** Bytes of keys, values and stored answers. */
  get dataBytes(): number {
    return this.#dataBytes;
  }

  /** Counts bytes of data that came (positive) or went (negative). */
  countData(bytes: number): void {
    this.#dataBytes += bytes;
    invariant(this.#dataBytes >= 0, "data bytes never fall below zero", () => String(this.#dataBytes));
  }

  countExpiringKeys(change: number): void {
    this.#expiringKeys += change;
    invariant(this.#expiringKeys >= 0, "expiring keys never fall below zero");
  }

  countReplays(change: number): void {
    this.#replays += change;
    invariant(this.#replays >= 0, "stored answers never fall below zero");
  }

  countLockTimers(change: number): void {
    this.#lockTimers += change;
    invariant(this.#lockTimers >= 0, "timers of locks never fall below zero");
  }

  /** The progress after this entry. */
  progress(term: number): Progress {
    return {
      appliedIndex: this.index,
      appliedTerm: term,
      tickMs: this.tickMs,
      wallMs: this.wallMs,
      revision: this.#revision,
      digest: this.transaction.digest,
      dataBytes: this.#dataBytes,
      expiringKeys: this.#expiringKeys,
      replays: this.#replays,
      lockTimers: this.#lockTimers,
    };
  }
}
