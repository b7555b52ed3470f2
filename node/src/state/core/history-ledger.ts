/** Which part of the history of changes is kept: its bounds, in memory while entries are applied, and their row. */

import { invariant } from "../../primitives/index.ts";
import { hasRulesOf } from "./cluster.ts";
import { HistoryShares } from "./history-shares.ts";
import { RecordReader, RecordWriter } from "./record.ts";
import { HISTORY_BOUNDS_ROW } from "./rows.ts";
import type { StateReader } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/** The first cluster version in which namespaces have shares of the history. */
const VERSION_WITH_HISTORY_SHARES = 6;

/** Which part of the history is kept. */
export interface HistoryBounds {
  /** The first revision that any watch can start at. From there on, only changes of large shares are missing. */
  readonly compactRevision: number;
  /** Bytes of all changes that have a row. */
  readonly bytes: number;
  /**
   * The oldest revision with a row, and its cluster tick in milliseconds; 0 and 0 if there is none. If it is below the
   * compact revision, its row is dropped soon.
   */
  readonly oldestRevision: number;
  readonly oldestTickMs: number;
  /** Rows from this revision on are in the shares of their namespaces; 0 = no row is. */
  readonly sharedFrom: number;
  /** Rows in shares. */
  readonly rows: number;
  /** From here on, nothing is missing in any share. */
  readonly completeRevision: number;
}

/** Length of the row while the history has no shares. */
const UNSHARED_BYTES = 4 * 8;
const UNSHARED = { sharedFrom: 0, rows: 0, completeRevision: 0 } as const;
const WHOLE_HISTORY: HistoryBounds = {
  compactRevision: 0,
  bytes: 0,
  oldestRevision: 0,
  oldestTickMs: 0,
  ...UNSHARED,
};

/** Which part of the history is kept while entries are applied. */
export class HistoryLedger {
  /** What the history has of each namespace. */
  readonly shares: HistoryShares;
  readonly #transaction: Transaction;
  /** Null until the first read. */
  #bounds: HistoryBounds | null = null;
  /** Bytes and rows added since the bounds were set. */
  #addedBytes = 0;
  #addedRows = 0;
  #isChanged = false;

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
    this.shares = new HistoryShares(transaction);
  }

  /** As of the last change. */
  get bounds(): HistoryBounds {
    let bounds = this.#bounds ?? readHistoryBounds(this.#transaction);
    if (this.#addedBytes > 0) {
      bounds = { ...bounds, bytes: bounds.bytes + this.#addedBytes, rows: bounds.rows + this.#addedRows };
      this.#addedBytes = 0;
      this.#addedRows = 0;
    }
    this.#bounds = bounds;
    return bounds;
  }

  /** The first revision from which on all changes of the namespace are kept, as of the last change. */
  compactRevisionOf(namespace: string): number {
    const { bounds } = this;
    return completeShareFrom(bounds, bounds.compactRevision, () => this.shares.compactRevisionOf(namespace));
  }

  /** Counts a new revision, whose changes are all of this namespace, and whose row has this many bytes. */
  add(namespace: string, revision: number, tickMs: number, bytes: number): void {
    let bounds = this.#bounds ?? this.bounds;
    if (bounds.oldestRevision === 0) {
      bounds = { ...this.bounds, oldestRevision: revision, oldestTickMs: tickMs };
      this.change(bounds);
    }
    if (bounds.sharedFrom === 0 && hasRulesOf(VERSION_WITH_HISTORY_SHARES, this.#transaction)) {
      bounds = { ...this.bounds, sharedFrom: revision };
      this.change(bounds);
    }
    // Most entries do only this; new bounds for each would be garbage at the next one.
    this.#addedBytes += bytes;
    this.#isChanged = true;
    if (bounds.sharedFrom > 0) {
      this.#addedRows++;
      this.shares.add(namespace, revision, bytes);
    }
  }

  change(bounds: HistoryBounds): void {
    invariant(bounds.bytes >= 0, "bytes of the history never fall below zero", () => String(bounds.bytes));
    const { compactRevision, completeRevision } = bounds;
    this.#bounds = completeRevision < compactRevision ? { ...bounds, completeRevision: compactRevision } : bounds;
    this.#isChanged = true;
  }

  /** The caller must call this once before a batch is written. */
  flush(): void {
    if (this.#isChanged) {
      this.#isChanged = false;
      this.#transaction.carry(HISTORY_BOUNDS_ROW, encodeBounds(this.bounds));
      this.shares.flush();
    }
  }
}

/** At or above `from`, where the share of a namespace is complete. Looks it up only if a share is cut there. */
export function completeShareFrom(bounds: HistoryBounds, from: number, compactRevisionOfShare: () => number): number {
  return bounds.completeRevision > from ? Math.max(from, compactRevisionOfShare()) : from;
}

/** Which part of the history is kept, as of the last written batch. */
export function readHistoryBounds(reader: StateReader): HistoryBounds {
  const bytes = reader.get(HISTORY_BOUNDS_ROW);
  if (bytes === undefined) {
    return WHOLE_HISTORY;
  }
  const fields = new RecordReader(bytes);
  const compactRevision = fields.uint53();
  const kept = {
    compactRevision,
    bytes: fields.uint53(),
    oldestRevision: fields.uint53(),
    oldestTickMs: fields.uint53(),
  };
  if (bytes.length === UNSHARED_BYTES) {
    return { ...kept, ...UNSHARED, completeRevision: compactRevision };
  }
  const bounds = { ...kept, sharedFrom: fields.uint53(), rows: fields.uint53(), completeRevision: fields.uint53() };
  fields.end();
  return bounds;
}

/** A history without shares has the form of the cluster versions before they came. */
function encodeBounds(bounds: HistoryBounds): Uint8Array {
  const writer = new RecordWriter().uint53(bounds.compactRevision).uint53(bounds.bytes);
  writer.uint53(bounds.oldestRevision).uint53(bounds.oldestTickMs);
  if (bounds.sharedFrom > 0) {
    writer.uint53(bounds.sharedFrom).uint53(bounds.rows).uint53(bounds.completeRevision);
  }
  return writer.finish();
}
