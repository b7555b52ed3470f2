/**
 * The newest changes of the state in memory, in front of the store on the disk.
 *
 * A batch of the store costs far more than the changes in it, and most rows of a slice change again in the next one. So
 * batches are collected here, and handed over as one: at each tick, and before there are too many. Each batch is handed
 * over whole, so the store always holds the state as it was behind some slice. A crash of the process loses what was not
 * handed over, as a power cut loses what was not synced: the log holds those entries and applies them again.
 *
 * Rows that were handed over last stay in memory until the next time, unless they are very large. Rows in constant use
 * are read from here.
 */

import { isWithin, latin1Of } from "../bytes/index.ts";
import { type Change, type KeyRange, type Row, scanMerged } from "../state/index.ts";
import { ChangedRows } from "./changed-rows.ts";
import type { MemberStateStore, StateReplacement, StateView } from "./member-state-store.ts";

export interface OverlayLimits {
  /** Changes are handed over when there are so many rows of them, or so many bytes of keys and values. */
  readonly rowsMax: number;
  readonly bytesMax: number;
}

/** One batch of so many rows takes a few milliseconds of the event loop (S44). */
const DEFAULT_LIMITS: OverlayLimits = { rowsMax: 1_000, bytesMax: 256 * 1024 };
/** A batch above so many times `bytesMax`, such as one of 10 MiB of events, does not stay in memory. */
const RECENT_TIMES = 4;

export class StateOverlay implements MemberStateStore {
  readonly #store: MemberStateStore;
  readonly #limits: OverlayLimits;
  /** What the store does not have yet. */
  #pending = new ChangedRows();
  /** To be dropped in the store, behind the pending changes. No pending change lies in one of these. */
  #dropped: KeyRange[] = [];
  /** What the store was given last. */
  #recent = new ChangedRows();

  constructor(store: MemberStateStore, limits: OverlayLimits = DEFAULT_LIMITS) {
    this.#store = store;
    this.#limits = limits;
  }

  get isStalled(): boolean {
    return this.#isFull && this.#store.isStalled;
  }

  get(key: Uint8Array, name?: string): Uint8Array | undefined {
    let known = name;
    if (this.#pending.mayHave(key) || this.#recent.mayHave(key)) {
      known ??= latin1Of(key);
      const change = this.#pending.get(key, known) ?? this.#recent.get(key, known);
      if (change !== undefined) {
        return change.value ?? undefined;
      }
    }
    return this.#isDropped(key) ? undefined : this.#store.get(key, known);
  }

  scan(from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void {
    if (this.#dropped.length === 0 && !this.#pending.mayHaveWithin(from, to)) {
      this.#store.scan(from, to, visit);
      return;
    }
    const isChanged = (key: Uint8Array) => this.#pending.get(key, latin1Of(key)) !== undefined || this.#isDropped(key);
    scanMerged(this.#store, this.#pending.rowsPut(from, to), isChanged, from, to, visit);
  }

  write(changes: readonly Change[], dropped: readonly KeyRange[] = []): void {
    if (this.#dropped.length > 0 && changes.some(({ key }) => this.#isDropped(key))) {
      // The store drops ranges behind changes: what is written to a dropped range must come in a later batch.
      this.#handOver();
    }
    for (let at = 0; at < changes.length; at++) {
      this.#pending.set(changes[at] as Change);
    }
    for (const range of dropped) {
      this.#pending.forget(range);
      this.#recent.forget(range);
      this.#dropped.push(range);
    }
    if (this.#isFull) {
      this.flush();
    }
  }

  flush(): boolean {
    const isEmpty = this.#pending.count === 0 && this.#dropped.length === 0;
    if (!isEmpty && this.#store.isStalled) {
      return false;
    }
    this.#handOver();
    return true;
  }

  sync(done: () => void): void {
    this.#handOver();
    this.#store.sync(done);
  }

  openView(): StateView {
    this.#handOver();
    return this.#store.openView();
  }

  beginReplacement(done: (replacement: StateReplacement) => void): void {
    this.#store.beginReplacement(done);
  }

  switchTo(replacement: StateReplacement): void {
    this.#store.switchTo(replacement);
    this.#pending = new ChangedRows();
    this.#dropped = [];
    this.#recent = new ChangedRows();
  }

  get #isFull(): boolean {
    return this.#pending.count >= this.#limits.rowsMax || this.#pending.bytes >= this.#limits.bytesMax;
  }

  #isDropped(key: Uint8Array): boolean {
    // Nearly always there is none, and then not even the closure is made.
    return this.#dropped.length > 0 && this.#dropped.some(({ from, to }) => isWithin(key, from, to));
  }

  #handOver(): void {
    if (this.#pending.count > 0 || this.#dropped.length > 0) {
      this.#store.write(this.#pending.all(), this.#dropped);
      this.#recent = this.#pending.bytes > RECENT_TIMES * this.#limits.bytesMax ? new ChangedRows() : this.#pending;
      this.#pending = new ChangedRows();
      this.#dropped = [];
    }
  }
}
