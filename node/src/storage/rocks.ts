/**
 * The border to the RocksDB binding: the only file that knows its types and its synchronous methods.
 *
 * A write runs in the calling thread, and a synced one blocks it until the disk has answered: synced writes belong in
 * a worker thread (P59). A store opened once can be shared with worker threads by its handle; the thread that opened it
 * closes it last.
 */

import { RocksLevel } from "rocksdb";
import type { Change, Row } from "../state/index.ts";
import { StoreError } from "./store-error.ts";

export interface RocksOptions {
  /** Whether a store that is not there is made; otherwise it is an error of kind "missing". */
  readonly createIfMissing: boolean;
  /** Whether blocks of older levels are compressed. */
  readonly compression: boolean;
  /** Bytes of the in-memory tables of all generations together. */
  readonly memtableBytes: number;
  readonly cacheBytes: number;
}

/** Rows fetched from the binding at a time: few, because most scans look at one or a page. */
const SCAN_ROWS = 32;
const EMPTY = Buffer.alloc(0);

export class Rocks {
  readonly #level: RocksLevel;

  private constructor(level: RocksLevel) {
    this.#level = level;
  }

  /** Opens the store in this directory. Raises a StoreError. */
  static async open(directory: string, options: RocksOptions): Promise<Rocks> {
    const level = new RocksLevel(directory, { keyEncoding: "buffer", valueEncoding: "buffer" });
    try {
      await level.open({
        createIfMissing: options.createIfMissing,
        compression: options.compression,
        memtableMemoryBudget: options.memtableBytes,
        cacheSize: options.cacheBytes,
        compaction: "level",
        walCompression: false,
        infoLogLevel: "warn",
      });
    } catch (error) {
      throw openError(directory, error);
    }
    return new Rocks(level);
  }

  /** Shares the store that another thread has open, by its handle. */
  static async attach(handle: bigint): Promise<Rocks> {
    const level = new RocksLevel(handle, { keyEncoding: "buffer", valueEncoding: "buffer" });
    await level.open({});
    return new Rocks(level);
  }

  /** For `attach` in a worker thread. */
  get handle(): bigint {
    return this.#level.handle;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#guard("read", () => this.#level._getManySync([asBuffer(key)], { valueEncoding: "buffer" })[0]);
  }

  /** Calls `visit` for the rows with from ≤ key < to, ascending, until it returns false. */
  scan(from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void {
    const iterator = this.#level.iterator({ gte: asBuffer(from), lt: asBuffer(to), fillCache: true });
    try {
      for (;;) {
        const { rows, finished } = this.#guard("scan", () => iterator._nextvSync(SCAN_ROWS));
        for (let at = 0; at < rows.length; at += 2) {
          if (!visit({ key: rows[at] ?? EMPTY, value: rows[at + 1] ?? EMPTY })) {
            return;
          }
        }
        if (finished || rows.length === 0) {
          return;
        }
      }
    } finally {
      iterator._closeSync();
    }
  }

  /** Writes all changes or none; with `sync` it returns only when they are on the disk. */
  write(changes: readonly Change[], sync: boolean): void {
    this.#guard("write", () => {
      const batch = this.#level.batch();
      for (const { key, value } of changes) {
        if (value === null) {
          batch._del(asBuffer(key));
        } else {
          batch._put(asBuffer(key), asBuffer(value));
        }
      }
      batch._writeSync({ sync });
      batch._closeSync();
    });
  }

  /** Deletes from ≤ key < to by one range tombstone, unsynced. */
  clear(from: Uint8Array, to: Uint8Array): void {
    let failure: Error | null = null;
    this.#level._clear({ gte: asBuffer(from), lt: asBuffer(to) }, (error) => {
      failure = error;
    });
    if (failure !== null) {
      throw ioError("clear", failure);
    }
  }

  /** Whether RocksDB holds writes back at the moment, so that a write would block its thread. */
  get isStalled(): boolean {
    return (
      this.#level.getProperty("rocksdb.is-write-stopped") !== "0" ||
      this.#level.getProperty("rocksdb.actual-delayed-write-rate") !== "0"
    );
  }

  async close(): Promise<void> {
    await this.#level.close();
  }

  #guard<T>(action: string, run: () => T): T {
    try {
      return run();
    } catch (error) {
      throw ioError(action, error);
    }
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function ioError(action: string, error: unknown): StoreError {
  const message = error instanceof Error ? error.message : String(error);
  const kind = message.startsWith("Corruption") ? "corruption" : "io";
  return new StoreError(kind, `the store failed to ${action}: ${message}`, { cause: error });
}

function openError(directory: string, error: unknown): StoreError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const message = cause instanceof Error ? cause.message : String(cause);
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === "LEVEL_LOCKED") {
    return new StoreError("locked", `another process uses the data directory (lock of ${directory} is held)`, { cause });
  }
  if (message.includes("does not exist (create_if_missing is false)")) {
    return new StoreError("missing", `there is no store in ${directory}`, { cause });
  }
  // A file that a manifest names and that is not there is lost data, whatever RocksDB calls it.
  const corrupt = /^Corruption|No such file or directory|does not exist/.test(message);
  return new StoreError(corrupt ? "corruption" : "io", `the store in ${directory} does not open: ${message}`, { cause });
}
