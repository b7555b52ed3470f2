/**
 * The newest changes of the state in memory, in front of the store on the disk.
 *
 * A batch of the store costs far more than the changes in it, and most rows of a slice change again in the next one. So
 * this class collects batches and writes them to the store as one: at each tick, and before there are too many. It
 * writes whole batches only, so the store always has the state as it was after some slice. A crash of the process loses
 * unwritten changes, as a power cut loses unsynced ones: the log has those entries, and they are applied again.
 *
 * The rows of the last write stay in memory until the next write, unless they are very large. So rows in constant use
 * are read from memory.
 */

import { hashOf, isWithin, type Keyed } from "../../bytes/index.ts";
import { type Change, type KeyRange, type Row, scanMerged } from "../../state/index.ts";
import { ChangedRows } from "./changed-rows.ts";
import type { MemberStateStore, StateReplacement, StateView } from "./member-state-store.ts";

export interface WriteBufferLimits {
  /** Changes are written to the store at this many rows, or this many bytes of keys and values. */
  readonly rowsMax: number;
  readonly bytesMax: number;
}

/** One batch of this size takes a few milliseconds of the event loop (S44). */
const DEFAULT_LIMITS: WriteBufferLimits = { rowsMax: 1_000, bytesMax: 256 * 1024 };
/** A batch of more than this many times `bytesMax`, such as 10 MiB of events, does not stay in memory. */
const RECENT_FACTOR = 4;

export class StateWriteBuffer implements MemberStateStore {
  readonly #store: MemberStateStore;
  readonly #limits: WriteBufferLimits;
  /** Changes that the store does not have yet. */
  #pending = new ChangedRows();
  /** Ranges to drop in the store after the pending changes. No pending change lies in one of these. */
  #dropped: KeyRange[] = [];
  /** The changes of the last write to the store. */
  #recent = new ChangedRows();

  constructor(store: MemberStateStore, limits: WriteBufferLimits = DEFAULT_LIMITS) {
    this.#store = store;
    this.#limits = limits;
  }

  get isStalled(): boolean {
    return this.#isFull && this.#store.isStalled;
  }

  get rowsRead(): number {
    return this.#store.rowsRead;
  }

  get(key: Uint8Array, hash?: number): Uint8Array | undefined {
    let known = hash;
    if (this.#pending.mayHave(key) || this.#recent.mayHave(key)) {
      known ??= hashOf(key);
      const change = this.#pending.get(key, known) ?? this.#recent.get(key, known);
      if (change !== undefined) {
        return change.value ?? undefined;
      }
    }
    return this.#isDropped(key) ? undefined : this.#store.get(key, known);
  }

  readAhead(rows: readonly Keyed[]): void {
    const isElsewhere = ({ key, hash }: Keyed) =>
      this.#pending.get(key, hash) !== undefined || this.#recent.get(key, hash) !== undefined;
    this.#store.readAhead?.(rows.filter((row) => !isElsewhere(row)));
  }

  scan(from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void {
    if (this.#dropped.length === 0 && !this.#pending.mayHaveWithin(from, to)) {
      this.#store.scan(from, to, visit);
      return;
    }
    const isChanged = (key: Uint8Array) => this.#pending.get(key, hashOf(key)) !== undefined || this.#isDropped(key);
    scanMerged(this.#store, this.#pending.rowsPut(from, to), isChanged, from, to, visit);
  }

  write(changes: readonly Change[], dropped: readonly KeyRange[] = []): void {
    if (this.#dropped.length > 0 && changes.some(({ key }) => this.#isDropped(key))) {
      // The store drops ranges after the changes of a batch, so changes in a dropped range need a later batch.
      this.#writePending();
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
    this.#writePending();
    return true;
  }

  sync(done: () => void): void {
    this.#writePending();
    this.#store.sync(done);
  }

  openView(): StateView {
    this.#writePending();
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
    // Nearly always there is none, and then this does not even create the closure.
    return this.#dropped.length > 0 && this.#dropped.some(({ from, to }) => isWithin(key, from, to));
  }

  #writePending(): void {
    if (this.#pending.count > 0 || this.#dropped.length > 0) {
      this.#store.write(this.#pending.all(), this.#dropped);
      this.#recent = this.#pending.bytes > RECENT_FACTOR * this.#limits.bytesMax ? new ChangedRows() : this.#pending;
      this.#pending = new ChangedRows();
      this.#dropped = [];
    }
  }
}
