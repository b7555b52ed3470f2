/**
 * What the history has of each namespace, so that one that changes much loses its own changes and not those of others.
 *
 * Shares are in memory while entries are applied, and the rows of changed shares are written once for each batch. The
 * digest covers the changes that determine them.
 */

import { invariant } from "../../primitives/index.ts";
import { count, decodeRow, encodeRow, recordOf } from "./fields.ts";
import { decodeText } from "./record.ts";
import { historyShareRow, tableRange } from "./rows.ts";
import type { StateReader } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/** What the history has of one namespace. */
export interface HistoryShare {
  /** Revisions with a row. */
  readonly rows: number;
  /** Bytes of these rows. */
  readonly bytes: number;
  /** From here on, nothing of the namespace was dropped because its share was the largest. */
  readonly compactRevision: number;
  /** The namespace has no row below this revision. */
  readonly oldestRevision: number;
}

const shareFields = recordOf<HistoryShare>({
  rows: count,
  bytes: count,
  compactRevision: count,
  oldestRevision: count,
});

type OpenShare = { -readonly [Field in keyof HistoryShare]: HistoryShare[Field] };

const NO_SHARE: HistoryShare = { rows: 0, bytes: 0, compactRevision: 0, oldestRevision: 0 };

/** The shares while entries are applied. */
export class HistoryShares {
  readonly #transaction: Transaction;
  readonly #changed = new Set<string>();
  /** Shares without rows. */
  readonly #empty = new Set<string>();
  /** Null until first used. */
  #shares: Map<string, OpenShare> | null = null;

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
  }

  /** From here on, nothing of the namespace was dropped because its share was the largest. */
  compactRevisionOf(namespace: string): number {
    return this.#all().get(namespace)?.compactRevision ?? 0;
  }

  /** Counts a new row. */
  add(namespace: string, revision: number, bytes: number): void {
    const shares = this.#all();
    let share = shares.get(namespace);
    if (share === undefined) {
      share = { ...NO_SHARE };
      shares.set(namespace, share);
    }
    if (share.rows === 0) {
      share.oldestRevision = revision;
      this.#empty.delete(namespace);
    }
    share.rows++;
    share.bytes += bytes;
    this.#changed.add(namespace);
  }

  /** Counts a row that is dropped: the oldest one of its namespace. */
  remove(namespace: string, revision: number, bytes: number): void {
    const share = this.#shareOf(namespace);
    share.rows--;
    share.bytes -= bytes;
    share.oldestRevision = revision + 1;
    invariant(share.rows >= 0 && share.bytes >= 0, "a share of the history never falls below zero", () => namespace);
    if (share.rows === 0) {
      this.#empty.add(namespace);
    }
  }

  /**
   * Tells what the caller has dropped because the share was the largest: everything below the compact revision. The
   * namespace has no row below the oldest revision.
   */
  cut(namespace: string, compactRevision: number, oldestRevision: number): void {
    Object.assign(this.#shareOf(namespace), { compactRevision, oldestRevision });
  }

  /** The same for a namespace that is being deleted. Its share shows that until the history begins later. */
  close(namespace: string, compactRevision: number): void {
    const shares = this.#all();
    const share = shares.get(namespace) ?? NO_SHARE;
    shares.set(namespace, { ...share, compactRevision });
    this.#changed.add(namespace);
    if (share.rows === 0) {
      this.#empty.add(namespace);
    }
  }

  /** The namespace with the most rows or bytes; of equal ones the first by name, so that members agree. */
  largest(by: "rows" | "bytes"): { readonly namespace: string; readonly share: HistoryShare } {
    let found: { readonly namespace: string; readonly share: HistoryShare } | null = null;
    for (const [namespace, share] of this.#all()) {
      const isMore = found === null || share[by] > found.share[by];
      if (isMore || (share[by] === found?.share[by] && namespace < found.namespace)) {
        found = { namespace, share };
      }
    }
    invariant(found !== null, "a history with rows has a largest share");
    return found;
  }

  /**
   * Forgets the shares without rows, unless they show that changes are missing. The caller must call it in each entry
   * that removes rows, so that what is forgotten does not depend on batches.
   *
   * @param compactRevision where the history of all namespaces begins: rows before the last one of a share are gone
   */
  forgetEmpty(compactRevision: number): void {
    const shares = this.#all();
    for (const namespace of this.#empty) {
      if (this.compactRevisionOf(namespace) <= compactRevision) {
        shares.delete(namespace);
        this.#empty.delete(namespace);
        this.#changed.add(namespace);
      }
    }
  }

  /** Writes the rows of the shares that have changed since the last flush into the transaction. */
  flush(): void {
    for (const namespace of this.#changed) {
      const share = this.#all().get(namespace);
      this.#transaction.carry(historyShareRow(namespace), share === undefined ? null : encodeRow(shareFields, share));
    }
    this.#changed.clear();
  }

  #shareOf(namespace: string): OpenShare {
    const share = this.#all().get(namespace);
    invariant(share !== undefined, "every counted row is in a share", () => namespace);
    this.#changed.add(namespace);
    return share;
  }

  #all(): Map<string, OpenShare> {
    if (this.#shares === null) {
      this.#shares = readHistoryShares(this.#transaction);
      for (const [namespace, { rows }] of this.#shares) {
        if (rows === 0) {
          this.#empty.add(namespace);
        }
      }
    }
    return this.#shares;
  }
}

/** All shares, as of the last batch, by namespace. */
export function readHistoryShares(reader: StateReader): Map<string, HistoryShare> {
  const shares = new Map<string, HistoryShare>();
  const { from, to } = tableRange("historyShare");
  reader.scan(from, to, ({ key, value }) => {
    shares.set(decodeText(key.subarray(from.length)), decodeRow(shareFields, value));
    return true;
  });
  return shares;
}

/** The first revision from which on nothing was dropped because the share of the namespace was the largest. */
export function readShareCompactRevision(reader: StateReader, namespace: string): number {
  const bytes = reader.get(historyShareRow(namespace));
  return bytes === undefined ? 0 : decodeRow(shareFields, bytes).compactRevision;
}
