/**
 * The replicated state in RocksDB: unsynced batches from the main thread, made durable now and then by the state
 * thread. The log replays what a power cut takes away, so it keeps everything after the last sync.
 */

import { invariant, writeUint53 } from "../raft/index.ts";
import { type Change, isHotRow, type Row, type StateStore } from "../state/index.ts";
import { crashPoint } from "./crash-point.ts";
import { Milestones } from "./milestones.ts";
import type { Rocks } from "./rocks.ts";
import { RowCache } from "./row-cache.ts";
import { ScanFloors } from "./scan-floors.ts";
import type { StateReply, StateRequest, StateThreadData } from "./state-thread.ts";
import { StoreError } from "./store-error.ts";
import { StoreThread } from "./store-thread.ts";

export class RocksStateStore implements StateStore {
  readonly #rocks: Rocks;
  readonly #thread: StoreThread<StateRequest, StateReply>;
  readonly #onFatal: (error: StoreError) => void;
  readonly #milestones: Milestones;
  readonly #hotRows = new RowCache();
  readonly #floors = new ScanFloors();
  #syncs = 0;
  #synced: (() => void) | null = null;

  /** Raises a StoreError of kind "corruption" if the store has lost batches between older and newer ones. */
  constructor(rocks: Rocks, onFatal: (error: StoreError) => void) {
    this.#rocks = rocks;
    this.#milestones = Milestones.read(rocks);
    this.#onFatal = onFatal;
    const data: StateThreadData = { handle: rocks.handle };
    this.#thread = new StoreThread(
      new URL("./state-thread.ts", import.meta.url),
      "state",
      data,
      (_reply: StateReply) => this.#onSynced(),
      onFatal,
    );
  }

  /** Whether RocksDB holds writes back, so that a batch now would block the event loop. */
  get isStalled(): boolean {
    return this.#rocks.isStalled;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const read = () => this.#orFatal(() => this.#rocks.get(key));
    return isHotRow(key) ? this.#hotRows.get(key, read) : read();
  }

  scan(from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void {
    this.#orFatal(() => {
      this.#floors.scan((first, end, seen) => this.#rocks.scan(first, end, seen), from, to, visit);
    });
  }

  write(changes: readonly Change[]): void {
    invariant(this.#synced === null, "no batch is written during a sync: it would wait for the disk");
    crashPoint("state.batch.before");
    this.#orFatal(() => this.#rocks.write(this.#milestones.mark(changes), false));
    this.#floors.onWrite(changes);
    for (const { key } of changes) {
      if (isHotRow(key)) {
        this.#hotRows.forget(key);
      }
    }
    crashPoint("state.batch.after");
  }

  sync(done: () => void): void {
    invariant(this.#synced === null, "one state sync is in flight at a time");
    this.#synced = done;
    this.#syncs++;
    const marker = new Uint8Array(8);
    writeUint53(marker, 0, this.#syncs);
    this.#thread.post({ kind: "sync", marker });
  }

  /** Ends the thread; the caller closes the store afterwards. */
  close(): Promise<void> {
    return this.#thread.close({ kind: "close" });
  }

  /** A state that cannot be read or written ends the member, whoever asked. */
  #orFatal<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      if (error instanceof StoreError) {
        this.#onFatal(error);
      }
      throw error;
    }
  }

  #onSynced(): void {
    const done = this.#synced;
    this.#synced = null;
    done?.();
  }
}
