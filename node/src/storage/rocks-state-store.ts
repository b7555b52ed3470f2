/**
 * The replicated state in RocksDB: unsynced batches from the main thread, made durable now and then by the state
 * thread. The log replays what a power cut takes away, so it keeps everything after the last sync.
 *
 * A state that is received as a snapshot grows beside the live one, as `state-<n+1>` beside `state-<n>`, written by the
 * state thread. Opening, closing and deleting stores happens in the background; only the main thread closes a store,
 * once the state thread has let go of it.
 */

import { mkdir, rm } from "node:fs/promises";
import { invariant, writeUint53 } from "../raft/index.ts";
import { type Change, droppedReplays, isHotRow, type KeyRange, type Row } from "../state/index.ts";
import { crashPoint } from "./crash-point.ts";
import { LOCAL_ROWS_FROM } from "./local-rows.ts";
import type { MemberStateStore, StateReplacement, StateView } from "./member-state-store.ts";
import { Milestones } from "./milestones.ts";
import type { Rocks } from "./rocks.ts";
import { RowCache } from "./row-cache.ts";
import { ScanFloors } from "./scan-floors.ts";
import { stateDirectoryBeside, stateNumberOf } from "./state-directory.ts";
import { RocksStateReplacement } from "./state-replacement.ts";
import type { StateReply, StateRequest, StateThreadData } from "./state-thread.ts";
import { StoreError } from "./store-error.ts";
import { StoreThread } from "./store-thread.ts";

/** Only the owner may enter: the state holds signing keys and password hashes. */
const DIRECTORY_MODE = 0o700;
const FIRST_KEY = new Uint8Array([0]);

export class RocksStateStore implements MemberStateStore {
  readonly #thread: StoreThread<StateRequest, StateReply>;
  readonly #onFatal: (error: StoreError) => void;
  /** Whom the replies of the thread are for: it answers in order. */
  readonly #awaited: (() => void)[] = [];
  #rocks: Rocks;
  #milestones: Milestones;
  #hotRows = new RowCache();
  #floors = new ScanFloors();
  #syncs = 0;
  #isSyncing = false;
  #isProbing = false;
  /** Failures of RocksDB in the background after which a write succeeded. */
  #probedErrors = 0;
  #openViews = 0;
  #replacement: RocksStateReplacement | null = null;
  /** Counts replacements that were asked for: what opens a store for an earlier one gives up. */
  #begun = 0;
  /** To be called when the thread has let go of a store, as it was asked to. */
  readonly #leaving = new Set<() => void>();
  /** Opening, closing and deleting stores, one after the other. */
  #background: Promise<void> = Promise.resolve();
  /** Reads a row from the disk. Made once: apply reads rows all the time. */
  readonly #read = (key: Uint8Array): Uint8Array | undefined => {
    try {
      return this.#rocks.get(key);
    } catch (error) {
      throw this.#fatal(error);
    }
  };

  /**
   * Takes over the store, which lies in a directory `state-<n>`, and deletes what a crash has left of dropped rows.
   * Raises a StoreError of kind "corruption" if it has lost batches between older and newer ones.
   */
  constructor(rocks: Rocks, onFatal: (error: StoreError) => void) {
    this.#rocks = rocks;
    this.#milestones = Milestones.read(rocks);
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
   * Whether RocksDB holds writes back, so that a batch now would block the event loop. A store that has failed in the
   * background while it did so, as over a damaged table, never stops holding back: then the state thread writes, and
   * learns what is wrong.
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

  /** Batches are with RocksDB already. */
  flush(): boolean {
    return true;
  }

  /** A number that RocksDB tells of the live state under this name; null once it is closed. */
  property(name: string): number | null {
    return this.#rocks.property(name);
  }

  get(key: Uint8Array, name?: string): Uint8Array | undefined {
    return isHotRow(key) ? this.#hotRows.get(key, this.#read, name) : this.#read(key);
  }

  scan(from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void {
    this.#orFatal(() => {
      this.#floors.scan((first, end, seen) => this.#rocks.scan(first, end, seen), from, to, visit);
    });
  }

  write(changes: readonly Change[], dropped: readonly KeyRange[] = []): void {
    invariant(!this.#isSyncing, "no batch is written during a sync: it would wait for the disk");
    crashPoint("state.batch.before");
    this.#orFatal(() => this.#rocks.write(this.#milestones.mark(changes), false));
    this.#floors.onWrite(changes);
    this.#forgetHotRows(changes);
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
    // Beginnings of tables that are known to be deleted are left out: stepping over them takes as long as over rows.
    const ranges = this.#floors.rangesWithin(FIRST_KEY, LOCAL_ROWS_FROM);
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
    this.#milestones = this.#orFatal(() => Milestones.read(next.rocks));
    this.#rocks = next.rocks;
    this.#hotRows = new RowCache();
    this.#floors = new ScanFloors();
    this.#probedErrors = 0;
    this.#replacement = null;
    this.#release(former, { kind: "switch" }, true);
    crashPoint("install.switch.after");
  }

  /** Ends the thread and closes the store. A replacement that was not placed is deleted. */
  async close(): Promise<void> {
    // What is being opened finds that it is not wanted any more.
    this.#begun++;
    if (this.#replacement?.isPlacing === false) {
      this.#replacement.abandon();
    }
    await this.#thread.close({ kind: "close" });
    // A thread that has failed lets go of its stores without an answer.
    for (const onLeft of this.#leaving) {
      onLeft();
    }
    await this.#background;
    await this.#replacement?.rocks.close();
    await this.#rocks.close();
  }

  #forgetHotRows(changes: readonly Change[]): void {
    for (let at = 0; at < changes.length; at++) {
      const { key, name } = changes[at] as Change;
      if (isHotRow(key)) {
        this.#hotRows.forget(key, name);
      }
    }
  }

  /** Writes in the state thread, which may wait: success shows that what has failed so far does not matter any more. */
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

  /** Deletes the rows of a range by one mark, which scans and views pass over at once however many rows it covers. */
  #clear({ from, to }: KeyRange): void {
    this.#orFatal(() => {
      this.#rocks.clear(from, to, (error) => {
        if (error !== null) {
          this.#onFatal(error);
        }
      });
    });
  }

  /** A crash between a batch and the deletions that belong to it leaves rows behind that no lookup finds any more. */
  #clearLeftovers(): void {
    const range = droppedReplays(this);
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
   * Closes and deletes a store once the thread has answered the request that makes it let go of it. Whatever is done in
   * the background later finds it gone.
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

  /** A state that cannot be read or written ends the member, whoever asked. */
  #orFatal<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw this.#fatal(error);
    }
  }

  /** The same error, which has ended the member if it is one of the store. */
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
    // It takes space and does no harm: each start deletes the states that are not the live one, and a replacement of
    // the same number begins with deleting it, where a failure counts.
  }
}

/**
 * Errors of a store, and of the file system, as those of kind "io"; null for what is neither. Never "corruption": these
 * are stores that are not live any more, or not yet, and damage of those says nothing about the live one.
 */
function asStoreError(error: unknown): StoreError | null {
  const isOfDisk = error instanceof StoreError || (error instanceof Error && "syscall" in error);
  return isOfDisk ? new StoreError("io", `the state cannot be replaced: ${error.message}`, { cause: error }) : null;
}
