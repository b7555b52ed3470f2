/**
 * The border to the RocksDB binding: the only file that knows its types and its synchronous methods.
 *
 * A write runs in the calling thread, and a synced write blocks it until the disk has answered. So synced writes belong
 * in a worker thread (P59). An open store can be shared with worker threads by its handle. Closing it closes it for all
 * of them, and a later call would crash the binding. So the thread that opened the store closes it when no other thread
 * uses it any more, and this file refuses later calls.
 *
 * The binding keeps every batch and iterator in a list until it is closed asynchronously. This file closes them
 * synchronously and must remove them from that list, or memory would grow with each write.
 */

import { type RocksBatch, type RocksIterator, RocksLevel } from "rocksdb";
import { withNul } from "../../bytes/index.ts";
import { invariant } from "../../primitives/index.ts";
import type { Change, KeyRange, Row } from "../../state/index.ts";
import { requireReadableLogs, StoreError } from "../files/index.ts";

export interface RocksOptions {
  /** Whether to create a store that does not exist; otherwise that is an error of kind "missing". */
  readonly createIfMissing: boolean;
  /** Bytes of all memtables together. */
  readonly memtableBytes: number;
  readonly cacheBytes: number;
  /** Milliseconds of a step from one row to the next from which on it is reported as a gap; by default `SLOW_MS`. */
  readonly slowMs?: number;
}

/** About the time for 1,000 tombstones, and five times that for a row in memory. */
const SLOW_MS = 0.1;
/** The same for a read of `SCAN_ROWS`, in which a gap is then looked for. */
const SLOW_READ_FACTOR = 3;
/** After a fruitless search for a gap there is none for so many times as long. */
const FIND_PAUSE_FACTOR = 50;
/** Rows fetched from the binding at a time: few, because most scans need one row or a page. */
const SCAN_ROWS = 32;
/** Bytes of them: fetching large rows that the scan does not need would stall the event loop (S44). */
const SCAN_BYTES = 256 * 1024;
/** Maximum rows of one read of a view: bounds the work of a turn when rows are small (S44). */
const VIEW_ROWS_MAX = 1024;
/**
 * Bytes of a block, which is compressed by itself. Half of it costs a fifth more to compact; a read of the double costs a
 * third more.
 */
const BLOCK_BYTES = 8 * 1024;
const EMPTY = Buffer.alloc(0);
const READ_OPTIONS = { valueEncoding: "buffer" } as const;
const READ_MANY_OPTIONS = { ...READ_OPTIONS, highWaterMarkBytes: SCAN_BYTES };

export class Rocks {
  readonly #level: RocksLevel;
  /** The options with which this thread opened it; null if the store is only attached. */
  readonly #options: RocksOptions | null;
  readonly #slowMs: number;
  #closed = false;
  #rowsRead = 0;
  /** When gaps may be looked for again. */
  #findsFromMs = Number.NEGATIVE_INFINITY;

  private constructor(level: RocksLevel, options: RocksOptions | null) {
    this.#level = level;
    this.#options = options;
    this.#slowMs = options?.slowMs ?? SLOW_MS;
  }

  /** Opens the store in this directory. Raises a StoreError. */
  static async open(directory: string, options: RocksOptions): Promise<Rocks> {
    requireReadableLogs(directory);
    const level = new RocksLevel(directory, { keyEncoding: "buffer", valueEncoding: "buffer" });
    try {
      await level.open({
        createIfMissing: options.createIfMissing,
        // Without dictionaries: they save a tenth of the disk, and cost a sixth of the time of compactions.
        // Blocks from the third level on are compressed all the same.
        compression: false,
        blockSize: BLOCK_BYTES,
        memtableMemoryBudget: options.memtableBytes,
        cacheSize: options.cacheBytes,
        compaction: "level",
        walCompression: false,
        infoLogLevel: "warn",
      });
    } catch (error) {
      throw openError(directory, error);
    }
    return new Rocks(level, options);
  }

  /** Attaches to a store that another thread has opened, by its handle. This thread must not close it. */
  static async attach(handle: bigint): Promise<Rocks> {
    const level = new RocksLevel(handle, { keyEncoding: "buffer", valueEncoding: "buffer" });
    await level.open({});
    return new Rocks(level, null);
  }

  /** Creates a store in this directory with the same options. Raises a StoreError. */
  openAnother(directory: string): Promise<Rocks> {
    invariant(this.#options !== null, "the thread that opened a store opens others like it");
    return Rocks.open(directory, { ...this.#options, createIfMissing: true });
  }

  /** Directory of the store. */
  get directory(): string {
    return this.#level.location;
  }

  /** For `attach` in a worker thread. */
  get handle(): bigint {
    this.#requireOpen();
    return this.#level.handle;
  }

  /** What readers were given so far, as `CountedReader` counts it. */
  get rowsRead(): number {
    return this.#rowsRead;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    this.#requireOpen();
    try {
      const value = this.#level._getManySync([key], READ_OPTIONS)[0] ?? undefined;
      this.#rowsRead += costOf(value);
      return value;
    } catch (error) {
      throw ioError("read", error);
    }
  }

  /** The values of these rows, in their order; null = not read, because those before it have many bytes. */
  getMany(keys: readonly Uint8Array[]): readonly (Uint8Array | undefined | null)[] {
    const values = this.#guard("read", () => this.#level._getManySync(keys, READ_MANY_OPTIONS));
    for (const value of values) {
      this.#rowsRead += value === null ? 0 : costOf(value);
    }
    return values;
  }

  /**
   * Calls `visit` for the rows with from ≤ key < to, ascending, until it returns false. Calls `onGap` with ranges without
   * rows that take long to scan: before `visit` gets the row behind, and not with all of them.
   */
  scan(
    from: Uint8Array,
    to: Uint8Array,
    visit: (row: Row) => boolean,
    onGap: ((gap: KeyRange) => void) | null = null,
  ): void {
    const beganMs = performance.now();
    // It goes to the first row.
    const iterator = this.#guard("scan", () => this.#iterator(from, to, true));
    let isFirst = true;
    let last: Uint8Array | null = null;
    try {
      for (;;) {
        const soughtMs = performance.now();
        const { rows, finished } = this.#guard("scan", () => iterator._nextvSync(SCAN_ROWS));
        if (onGap !== null) {
          const readMs = performance.now();
          if (isFirst && soughtMs - beganMs > this.#slowMs) {
            this.#reportGap(from, to, onGap);
          }
          if (readMs - soughtMs > SLOW_READ_FACTOR * this.#slowMs) {
            this.#findGap(last === null ? from : withNul(last), finished ? to : lastKeyOf(rows), onGap);
          }
        }
        for (let at = 0; at < rows.length; at += 2) {
          const value = rows[at + 1] ?? EMPTY;
          this.#rowsRead += costOf(value);
          if (!visit({ key: rows[at] ?? EMPTY, value })) {
            return;
          }
        }
        if (finished || rows.length === 0) {
          return;
        }
        isFirst = false;
        last = lastKeyOf(rows);
      }
    } finally {
      this.#close(iterator);
    }
  }

  /**
   * Finds the part of a range that took long to scan, and has no rows, by scanning it again row by row. A range may take
   * long for other reasons, such as the disk, so this uses only a small part of the time.
   */
  #findGap(from: Uint8Array, to: Uint8Array, onGap: (gap: KeyRange) => void): void {
    const beganMs = performance.now();
    if (beganMs < this.#findsFromMs) {
      return;
    }
    let sinceMs = beganMs;
    let start = from;
    const iterator = this.#guard("scan", () => this.#iterator(from, to, true, false));
    try {
      for (;;) {
        const [key] = this.#guard("scan", () => iterator._nextvSync(1)).rows;
        const nowMs = performance.now();
        if (nowMs - sinceMs > this.#slowMs && this.#reportGap(start, to, onGap)) {
          return;
        }
        if (key === undefined) {
          break;
        }
        start = withNul(key);
        sinceMs = nowMs;
      }
    } finally {
      this.#close(iterator);
    }
    const nowMs = performance.now();
    this.#findsFromMs = nowMs + FIND_PAUSE_FACTOR * (nowMs - beganMs);
  }

  /**
   * Reports the range before the first row if it takes long a second time: the first time may have been an interruption,
   * or a read of the disk.
   */
  #reportGap(from: Uint8Array, to: Uint8Array, onGap: (gap: KeyRange) => void): boolean {
    const beganMs = performance.now();
    const iterator = this.#guard("scan", () => this.#iterator(from, to, true, false));
    try {
      const [key] = this.#guard("scan", () => iterator._nextvSync(1)).rows;
      const isSlow = performance.now() - beganMs > this.#slowMs;
      if (isSlow) {
        onGap({ from, to: key ?? to });
      }
      return isSlow;
    } finally {
      this.#close(iterator);
    }
  }

  #close(iterator: RocksIterator): void {
    iterator._closeSync();
    this.#level.detachResource(iterator);
  }

  /**
   * A consistent view of the rows in these ranges, one range after the other. The caller must close it: until then the
   * store cannot delete the files that it uses.
   */
  view(ranges: readonly KeyRange[]): RocksView {
    return this.#guard("read", () => {
      const iterators = ranges.map(({ from, to }) => this.#iterator(from, to, false));
      return new RocksView(this.#level, iterators, (read) => this.#guard("read", read));
    });
  }

  #iterator(from: Uint8Array, to: Uint8Array, fillCache: boolean, values = true): RocksIterator {
    const bounds = { gte: from, lt: to };
    return this.#level.iterator({ ...bounds, fillCache, values, highWaterMarkBytes: SCAN_BYTES });
  }

  /** Writes all changes or none. With `sync` it returns only when they are on the disk. */
  write(changes: readonly Change[], sync: boolean): void {
    this.#guard("write", () => {
      const batch = this.#level.batch();
      try {
        addTo(batch, changes);
        batch._writeSync({ sync });
      } finally {
        batch._closeSync();
        this.#level.detachResource(batch);
      }
    });
  }

  /**
   * Deletes from ≤ key < to by one range tombstone, unsynced. It takes effect before this returns; `done` gets the
   * result later in the same turn.
   */
  clear(from: Uint8Array, to: Uint8Array, done: (error: StoreError | null) => void): void {
    this.#requireOpen();
    this.#level._clear({ gte: from, lt: to }, (error) => {
      done(error === null ? null : ioError("clear", error));
    });
  }

  /** A numeric RocksDB property, such as "rocksdb.size-all-mem-tables"; null once closed. */
  property(name: string): number | null {
    return this.#closed ? null : Number(this.#level.getProperty(name));
  }

  /** Whether RocksDB stalls writes at the moment, so that a write would block its thread. */
  get isStalled(): boolean {
    this.#requireOpen();
    return (
      this.#level.getProperty("rocksdb.is-write-stopped") !== "0" ||
      this.#level.getProperty("rocksdb.actual-delayed-write-rate") !== "0"
    );
  }

  /** Closes the store for all threads; no other thread may use it any more. Raises a StoreError. */
  async close(): Promise<void> {
    this.#closed = true;
    try {
      await this.#level.close();
    } catch (error) {
      throw ioError("close", error);
    }
  }

  #requireOpen(): void {
    if (this.#closed) {
      throw new StoreError("io", "the store is closed");
    }
  }

  #guard<T>(action: string, run: () => T): T {
    this.#requireOpen();
    try {
      return run();
    } catch (error) {
      throw ioError(action, error);
    }
  }
}

function lastKeyOf(rows: readonly (Uint8Array | undefined)[]): Uint8Array {
  return rows.at(-2) ?? EMPTY;
}

/** A consistent view of a store, read in pieces. */
class RocksView {
  readonly #level: RocksLevel;
  /** Iterators that are left to read. All of them were created with the view. */
  readonly #iterators: RocksIterator[];
  readonly #guard: <T>(read: () => T) => T;
  /** Rows that were fetched and not returned yet, in reverse order. */
  #fetched: Row[] = [];

  constructor(level: RocksLevel, iterators: readonly RocksIterator[], guard: <T>(read: () => T) => T) {
    this.#level = level;
    this.#iterators = [...iterators];
    this.#guard = guard;
  }

  /** The next rows in key order: up to `maxBytes` together, or one larger row; none at the end. Raises a StoreError. */
  read(maxBytes: number): Row[] {
    const rows: Row[] = [];
    let bytes = 0;
    while (rows.length < VIEW_ROWS_MAX) {
      const row = this.#next();
      if (row === null) {
        break;
      }
      bytes += row.key.length + row.value.length;
      if (bytes > maxBytes && rows.length > 0) {
        this.#fetched.push(row);
        break;
      }
      rows.push(row);
    }
    return rows;
  }

  close(): void {
    this.#fetched = [];
    for (const iterator of this.#iterators.splice(0)) {
      this.#release(iterator);
    }
  }

  #next(): Row | null {
    for (;;) {
      const row = this.#fetched.pop();
      if (row !== undefined) {
        return row;
      }
      const iterator = this.#iterators[0];
      if (iterator === undefined) {
        return null;
      }
      const { rows, finished } = this.#guard(() => iterator._nextvSync(SCAN_ROWS));
      for (let at = rows.length - 2; at >= 0; at -= 2) {
        this.#fetched.push({ key: rows[at] ?? EMPTY, value: rows[at + 1] ?? EMPTY });
      }
      if (finished || rows.length === 0) {
        this.#iterators.shift();
        this.#release(iterator);
      }
    }
  }

  #release(iterator: RocksIterator): void {
    iterator._closeSync();
    this.#level.detachResource(iterator);
  }
}

// An index loop: a for-of loop would allocate for each change.
function addTo(batch: RocksBatch, changes: readonly Change[]): void {
  for (let at = 0; at < changes.length; at++) {
    const { key, value } = changes[at] as Change;
    if (value === null) {
      batch._del(key);
    } else {
      batch._put(key, value);
    }
  }
}

function ioError(action: string, error: unknown): StoreError {
  const message = error instanceof Error ? error.message : String(error);
  const kind = message.startsWith("Corruption") ? "corruption" : "io";
  return new StoreError(kind, `the store failed to ${action}: ${message}`, { cause: error });
}

/** What a row that was read counts. */
function costOf(value: Uint8Array | undefined): number {
  return 1 + ((value?.length ?? 0) >>> 12);
}

function openError(directory: string, error: unknown): StoreError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const message = cause instanceof Error ? cause.message : String(cause);
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === "LEVEL_LOCKED") {
    return new StoreError("locked", `another process uses the data directory (lock of ${directory} is held)`, {
      cause,
    });
  }
  if (message.includes("does not exist (create_if_missing is false)")) {
    return new StoreError("missing", `there is no store in ${directory}`, { cause });
  }
  // A missing file that a manifest names is lost data, although RocksDB does not report it as corruption.
  const corrupt = /^Corruption|No such file or directory|does not exist/.test(message);
  return new StoreError(corrupt ? "corruption" : "io", `the store in ${directory} does not open: ${message}`, {
    cause,
  });
}
