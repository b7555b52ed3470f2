/**
 * The replicated state in RocksDB: the main thread writes unsynced batches, and the state thread syncs them from time
 * to time. After a power cut the member applies again what was not synced, so the log keeps all entries after the last
 * sync.
 *
 * The state thread writes a received snapshot to a store `state-<n+1>` beside the live `state-<n>`. Stores are opened,
 * closed and deleted in the background. Only the main thread closes a store, once the state thread has released it.
 */

import { mkdir, rm } from "node:fs/promises";
import { ByteTable, hashOf, type Keyed } from "../../bytes/index.ts";
import { invariant, writeUint53 } from "../../primitives/index.ts";
import { type Change, droppedGenerations, isHotRow, isSessionRow, type KeyRange, type Row } from "../../state/index.ts";
import { crashPoint, DIRECTORY_MODE, StoreError } from "../files/index.ts";
import type { Rocks } from "../rocks/index.ts";
import { StoreThread } from "../thread/index.ts";
import { LOCAL_ROWS_FROM } from "./local-rows.ts";
import type { MemberStateStore, StateReplacement, StateView } from "./member-state-store.ts";
import { type CachedRow, RowCache } from "./row-cache.ts";
import { ScanGaps } from "./scan-gaps.ts";
import { SequenceMarkers } from "./sequence-markers.ts";
import { stateDirectoryBeside, stateNumberOf } from "./state-directory.ts";
import { RocksStateReplacement } from "./state-replacement.ts";
import type { StateReply, StateRequest, StateThreadData } from "./state-thread.ts";

const FIRST_KEY = new Uint8Array([0]);

/** More users, keys and namespaces than are usually in use. */
const HOT_ROWS_MAX = 10_000;
/** Two for each session: some MiB, unless most of them have all the metadata that they may have. */
const SESSION_ROWS_MAX = 50_000;

export class RocksStateStore implements MemberStateStore {
  readonly #thread: StoreThread<StateRequest, StateReply>;
  readonly #onFatal: (error: StoreError) => void;
  /** Callbacks for the replies of the thread, which come in order. */
  readonly #awaited: (() => void)[] = [];
  #rocks: Rocks;
  #markers: SequenceMarkers;
  #hotRows = new RowCache(HOT_ROWS_MAX);
  #sessionRows = new RowCache(SESSION_ROWS_MAX);
  #gaps = new ScanGaps();
  /** Rows that are read next; all of them equal the store. */
  readonly #ahead = new ByteTable<CachedRow>();
  #syncs = 0;
  #isSyncing = false;
  #isProbing = false;
  /** Number of RocksDB background errors after which a write has succeeded. */
  #probedErrors = 0;
  #openViews = 0;
  #replacement: RocksStateReplacement | null = null;
  /** Counts requested replacements. Opening a store for an earlier one is cancelled. */
  #begun = 0;
  /** Callbacks for when the thread has released a store. */
  readonly #leaving = new Set<() => void>();
  /** Opens, closes and deletes stores, one after the other. */
  #background: Promise<void> = Promise.resolve();
  /** Reads a row from the disk. Created once, because apply reads rows all the time. */
  readonly #read = (key: Uint8Array): Uint8Array | undefined => {
    try {
      return this.#rocks.get(key);
    } catch (error) {
      throw this.#fatal(error);
    }
  };

  /**
   * Takes over the store, whose directory is a `state-<n>`, and deletes dropped rows that a crash has left behind.
   * Raises a StoreError of kind "corruption" if it has lost batches between older and newer ones.
   */
  constructor(rocks: Rocks, onFatal: (error: StoreError) => void) {
    this.#rocks = rocks;
    this.#markers = SequenceMarkers.read(rocks);
    this.#onFatal = onFatal;
    this.#clearLeftovers();
    const data: StateThreadData = { handle: rocks.handle };
    this.#thread = new StoreThread(
      new URL("./state-thread.ts", import.meta.url),
      "state",
      data,
      (_reply: StateReply) => this.#onDone(),
      onFatal,
    );
  }

  /**
   * Whether RocksDB stalls writes, so that a batch now would block the event loop. After a background error, such as a
   * damaged table, a stall never ends. So after such an error the state thread writes a row, to learn whether the store
   * has failed.
   */
  get isStalled(): boolean {
    if (this.#isProbing) {
      return true;
    }
    const { isStalled } = this.#rocks;
    if (isStalled) {
      this.#probeAfterErrors();
    }
    return isStalled;
  }

  /** Nothing to do: RocksDB has all batches already. */
  flush(): boolean {
    return true;
  }

  /** The RocksDB property of the live state; null once it is closed. */
  property(name: string): number | null {
    return this.#rocks.property(name);
  }

  get rowsRead(): number {
    return this.#rocks.rowsRead;
  }

  get(key: Uint8Array, hash?: number): Uint8Array | undefined {
    const cache = this.#cacheOf(key);
    if (cache !== null) {
      return cache.get(key, this.#read, hash);
    }
    const ahead = this.#ahead.size === 0 ? undefined : this.#ahead.get(key, hash ?? hashOf(key));
    return ahead === undefined ? this.#read(key) : ahead.value;
  }

  readAhead(rows: readonly Keyed[]): void {
    this.#ahead.take();
    const values = this.#orFatal(() => this.#rocks.getMany(rows.map(({ key }) => key)));
    for (const [at, { key, hash }] of rows.entries()) {
      const value = values[at];
      if (value !== null) {
        this.#ahead.set({ key, hash, value });
      }
    }
  }

  scan(from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void {
    this.#orFatal(() => this.#gaps.scan(this.#rocks, from, to, visit));
  }

  write(changes: readonly Change[], dropped: readonly KeyRange[] = []): void {
    invariant(!this.#isSyncing, "no batch is written during a sync: it would wait for the disk");
    crashPoint("state.batch.before");
    this.#orFatal(() => this.#rocks.write(this.#markers.addMarkers(changes), false));
    this.#gaps.onWrite(changes);
    this.#ahead.take();
    this.#updateCaches(changes);
    crashPoint("state.batch.after");
    for (const range of dropped) {
      crashPoint("state.drop.before");
      this.#clear(range);
      crashPoint("state.drop.after");
    }
  }

  sync(done: () => void): void {
    invariant(!this.#isSyncing, "one state sync is in flight at a time");
    this.#isSyncing = true;
    this.#writeMarker(() => {
      this.#isSyncing = false;
      done();
    });
  }

  openView(): StateView {
    const ranges = this.#gaps.rangesWithin(FIRST_KEY, LOCAL_ROWS_FROM);
    const view = this.#orFatal(() => this.#rocks.view(ranges));
    let isOpen = true;
    this.#openViews++;
    return {
      read: (maxBytes) => {
        invariant(isOpen, "a view is read before it is closed");
        return this.#orFatal(() => view.read(maxBytes));
      },
      close: () => {
        if (isOpen) {
          isOpen = false;
          this.#openViews--;
          view.close();
        }
      },
    };
  }

  beginReplacement(done: (replacement: StateReplacement) => void): void {
    this.#replacement?.abandon();
    this.#begun++;
    const attempt = this.#begun;
    const directory = stateDirectoryBeside(this.#rocks.directory, stateNumberOf(this.#rocks.directory) + 1);
    const live = this.#rocks;
    this.#inBackground(async () => {
      if (attempt !== this.#begun) {
        return;
      }
      crashPoint("install.begin.before");
      await rm(directory, { recursive: true, force: true });
      await mkdir(directory, { mode: DIRECTORY_MODE });
      const rocks = await live.openAnother(directory);
      if (attempt === this.#begun) {
        this.#onOpened(rocks, done);
      } else {
        await closeAndDelete(rocks);
      }
    });
  }

  switchTo(replacement: StateReplacement): void {
    const next = this.#replacement;
    invariant(next !== null && next === replacement && next.isPlaced, "the placed replacement is switched to");
    invariant(this.#openViews === 0, "no view of the former state is open");
    invariant(!this.#isSyncing, "no sync of the former state is in flight");
    crashPoint("install.switch.before");
    const former = this.#rocks;
    this.#markers = this.#orFatal(() => SequenceMarkers.read(next.rocks));
    this.#rocks = next.rocks;
    this.#hotRows = new RowCache(HOT_ROWS_MAX);
    this.#sessionRows = new RowCache(SESSION_ROWS_MAX);
    this.#gaps = new ScanGaps();
    this.#ahead.take();
    this.#probedErrors = 0;
    this.#replacement = null;
    this.#release(former, { kind: "switch" }, true);
    crashPoint("install.switch.after");
  }

  /** Ends the thread and closes the store. A replacement that was not placed is deleted. */
  async close(): Promise<void> {
    // Cancels a replacement that is being opened.
    this.#begun++;
    if (this.#replacement?.isPlacing === false) {
      this.#replacement.abandon();
    }
    await this.#thread.close({ kind: "close" });
    // A failed thread releases its stores without a reply.
    for (const onLeft of this.#leaving) {
      onLeft();
    }
    await this.#background;
    await this.#replacement?.rocks.close();
    await this.#rocks.close();
  }

  #cacheOf(key: Uint8Array): RowCache | null {
    return isHotRow(key) ? this.#hotRows : isSessionRow(key) ? this.#sessionRows : null;
  }

  #updateCaches(changes: readonly Change[]): void {
    for (let at = 0; at < changes.length; at++) {
      const { key, value, hash } = changes[at] as Change;
      this.#cacheOf(key)?.update(key, value, hash);
    }
  }

  /** Writes in the state thread, which may block. Success shows that the errors so far do not matter any more. */
  #probeAfterErrors(): void {
    const probed = this.#rocks;
    const errors = probed.property("rocksdb.background-errors") ?? 0;
    if (errors > this.#probedErrors) {
      this.#isProbing = true;
      this.#writeMarker(() => {
        this.#isProbing = false;
        this.#probedErrors = probed === this.#rocks ? errors : 0;
      });
    }
  }

  /** Deletes a range by one range tombstone, which scans and views skip at once, however many rows it covers. */
  #clear({ from, to }: KeyRange): void {
    this.#orFatal(() => {
      this.#rocks.clear(from, to, (error) => {
        if (error !== null) {
          this.#onFatal(error);
        }
      });
    });
  }

  /** Deletes rows that no lookup finds any more, left by a crash between a batch and its range deletions. */
  #clearLeftovers(): void {
    const range = droppedGenerations(this);
    let hasLeftovers = false;
    this.scan(range.from, range.to, () => {
      hasLeftovers = true;
      return false;
    });
    if (hasLeftovers) {
      this.#clear(range);
    }
  }

  #writeMarker(done: () => void): void {
    this.#syncs++;
    const marker = new Uint8Array(8);
    writeUint53(marker, 0, this.#syncs);
    this.#request({ kind: "sync", marker }, [], done);
  }

  #onOpened(rocks: Rocks, done: (replacement: StateReplacement) => void): void {
    const replacement = new RocksStateReplacement(
      rocks,
      (request, transfer, answered) => this.#request(request, transfer, answered),
      () => {
        this.#replacement = null;
        this.#release(rocks, { kind: "detach" }, false);
      },
    );
    this.#replacement = replacement;
    replacement.attach(() => {
      crashPoint("install.begin.after");
      done(replacement);
    });
  }

  /**
   * Closes and deletes a store once the thread has released it. Later background work waits until it is deleted.
   */
  #release(rocks: Rocks, request: StateRequest, wasLive: boolean): void {
    const left = new Promise<void>((resolve) => {
      this.#leaving.add(resolve);
      this.#request(request, [], () => {
        this.#leaving.delete(resolve);
        resolve();
      });
    });
    this.#inBackground(async () => {
      await left;
      if (wasLive) {
        crashPoint("install.delete.before");
      }
      await closeAndDelete(rocks);
      if (wasLive) {
        crashPoint("install.delete.after");
      }
    });
  }

  #request(request: StateRequest, transfer: readonly ArrayBuffer[], done: () => void): void {
    this.#awaited.push(done);
    this.#thread.post(request, transfer);
  }

  #onDone(): void {
    const done = this.#awaited.shift();
    invariant(done !== undefined, "the state thread answers what it was asked");
    done();
  }

  #inBackground(action: () => Promise<void>): void {
    this.#background = this.#background.then(action).catch((error: unknown) => {
      const failure = asStoreError(error);
      if (failure === null) {
        throw error;
      }
      this.#onFatal(failure);
    });
  }

  /** A state that cannot be read or written always ends the member. */
  #orFatal<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw this.#fatal(error);
    }
  }

  /** Reports a StoreError as fatal. Returns the error. */
  #fatal(error: unknown): unknown {
    if (error instanceof StoreError) {
      this.#onFatal(error);
    }
    return error;
  }
}

/** Raises a StoreError if the store does not close. */
async function closeAndDelete(rocks: Rocks): Promise<void> {
  const { directory } = rocks;
  await rocks.close();
  try {
    await rm(directory, { recursive: true, force: true });
  } catch {
    // The leftover only takes space: each start deletes all states but the live one, and a replacement with the same
    // number first deletes it, where a failure counts.
  }
}

/**
 * Converts errors of a store or of the file system to kind "io"; null for any other error. Never "corruption": these
 * stores are not live, and damage in them says nothing about the live one.
 */
function asStoreError(error: unknown): StoreError | null {
  const isOfDisk = error instanceof StoreError || (error instanceof Error && "syscall" in error);
  return isOfDisk ? new StoreError("io", `the state cannot be replaced: ${error.message}`, { cause: error }) : null;
}
