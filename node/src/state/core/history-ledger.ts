/** Which part of the history of changes is kept: its bounds, in memory while entries are applied, and their row. */

import { invariant } from "../../primitives/index.ts";
import { RecordReader, RecordWriter } from "./record.ts";
import { HISTORY_BOUNDS_ROW } from "./rows.ts";
import type { StateReader } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/** Which part of the history is kept. */
export interface HistoryBounds {
  /** The first revision that a watch can start at: nothing is missing from there on. */
  readonly compactRevision: number;
  /** Bytes of all changes that have a row. */
  readonly bytes: number;
  /**
   * The oldest revision with a row, and its cluster tick in milliseconds; 0 and 0 if there is none. If it is below the
   * compact revision, its row is dropped soon.
   */
  readonly oldestRevision: number;
  readonly oldestTickMs: number;
}

const WHOLE_HISTORY: HistoryBounds = { compactRevision: 0, bytes: 0, oldestRevision: 0, oldestTickMs: 0 };

/** Which part of the history is kept while entries are applied. */
export class HistoryLedger {
  readonly #transaction: Transaction;
  /** Null until the first read. */
  #bounds: HistoryBounds | null = null;
  /** Bytes of changes added since the bounds were set. */
  #added = 0;
  #isChanged = false;

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
  }

  /** As of the last change. */
  get bounds(): HistoryBounds {
    let bounds = this.#bounds ?? readHistoryBounds(this.#transaction);
    if (this.#added > 0) {
      bounds = { ...bounds, bytes: bounds.bytes + this.#added };
      this.#added = 0;
    }
    this.#bounds = bounds;
    return bounds;
  }

  /** Counts a new revision whose changes have a row of this many bytes. */
  add(revision: number, tickMs: number, bytes: number): void {
    this.#bounds ??= readHistoryBounds(this.#transaction);
    if (this.#bounds.oldestRevision === 0) {
      this.change({ ...this.bounds, oldestRevision: revision, oldestTickMs: tickMs });
    }
    // Most entries do only this; new bounds for each would be garbage at the next one.
    this.#added += bytes;
    this.#isChanged = true;
  }

  change(bounds: HistoryBounds): void {
    invariant(bounds.bytes >= 0, "bytes of the history never fall below zero", () => String(bounds.bytes));
    this.#bounds = bounds;
    this.#isChanged = true;
  }

  /** The caller must call this once before a batch is written. */
  flush(): void {
    if (this.#isChanged) {
      this.#isChanged = false;
      this.#transaction.carry(HISTORY_BOUNDS_ROW, encodeBounds(this.bounds));
    }
  }
}

/** Which part of the history is kept, as of the last written batch. */
export function readHistoryBounds(reader: StateReader): HistoryBounds {
  const bytes = reader.get(HISTORY_BOUNDS_ROW);
  if (bytes === undefined) {
    return WHOLE_HISTORY;
  }
  const fields = new RecordReader(bytes);
  const bounds = {
    compactRevision: fields.uint53(),
    bytes: fields.uint53(),
    oldestRevision: fields.uint53(),
    oldestTickMs: fields.uint53(),
  };
  fields.end();
  return bounds;
}

function encodeBounds({ compactRevision, bytes, oldestRevision, oldestTickMs }: HistoryBounds): Uint8Array {
  const writer = new RecordWriter().uint53(compactRevision).uint53(bytes).uint53(oldestRevision).uint53(oldestTickMs);
  return writer.finish();
}
