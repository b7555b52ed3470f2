/**
 * The Raft log in RocksDB: row `m`, and one row per entry under `e` and its index.
 *
 * Each write is one synced batch made by the log thread: the whole row `m`, the new rows, and a deletion for each old
 * index above the new last one. The fence follows each batch and precedes its acknowledgement. Rows are checked
 * against their checksums whenever they are read, all of them at every start.
 */

import { crc32 } from "node:zlib";
import {
  type AppendEffect,
  entryIndex,
  entryTerm,
  invariant,
  isIntactEntry,
  type LogBounds,
  writeUint53,
} from "../raft/index.ts";
import type { Change } from "../state/index.ts";
import { encodeChanges } from "./change-batch.ts";
import { encodeFence, type Fence, fenceOffset } from "./fence.ts";
import { encodeLogMeta, type LogMeta } from "./log-meta.ts";
import type { LogStore } from "./log-store.ts";
import type { LogReply, LogRequest, LogThreadData } from "./log-thread.ts";
import type { Rocks } from "./rocks.ts";
import { StoreError } from "./store-error.ts";
import { StoreThread } from "./store-thread.ts";

export const LOG_META_KEY = new Uint8Array([0x6d]); // m
const ENTRY_TABLE = 0x65; // e

/** Key of the row of an entry. */
export function entryKey(index: number): Uint8Array {
  const key = new Uint8Array(9);
  key[0] = ENTRY_TABLE;
  writeUint53(key, 1, index);
  return key;
}

export interface RocksLogStoreOptions {
  readonly rocks: Rocks;
  readonly fencePath: string;
  /** What the store holds now. */
  readonly meta: LogMeta;
  readonly fenceCounter: number;
  /** Called once, when a write or the thread failed; nothing is called afterwards. */
  readonly onFatal: (error: StoreError) => void;
}

export class RocksLogStore implements LogStore {
  readonly #rocks: Rocks;
  readonly #thread: StoreThread<LogRequest, LogReply>;
  #meta: LogMeta;
  #fenceCounter: number;
  #first: number;
  #prevTerm: number;
  #done: ((writeSeq: number, durationMs: number) => void) | null = null;
  #clearBelow = 0;

  constructor(options: RocksLogStoreOptions) {
    this.#rocks = options.rocks;
    this.#meta = options.meta;
    this.#first = options.meta.first;
    this.#prevTerm = options.meta.prevTerm;
    this.#fenceCounter = options.fenceCounter;
    const data: LogThreadData = { handle: options.rocks.handle, fencePath: options.fencePath };
    this.#thread = new StoreThread(
      new URL("./log-thread.ts", import.meta.url),
      "log",
      data,
      (reply: LogReply) => this.#onWritten(reply.writeSeq, reply.durationMs),
      options.onFatal,
    );
  }

  /** Bounds of the log as of the last write handed out. */
  get bounds(): LogBounds {
    const { last, lastTerm } = this.#meta;
    return { first: this.#first, prevTerm: this.#prevTerm, last, lastTerm };
  }

  get meta(): LogMeta {
    return this.#meta;
  }

  write(append: AppendEffect, done: (writeSeq: number, durationMs: number) => void): void {
    if (append.resetTo !== null) {
      // The state has everything up to there: the log goes on behind it, whatever it held.
      this.#first = append.resetTo.index + 1;
      this.#prevTerm = append.resetTo.term;
      invariant(append.from === this.#first, "a log that starts anew starts behind what it is reset to");
    }
    const last = append.from + append.rows.length - 1;
    const lastRow = append.rows.at(-1);
    invariant(append.rows.length === 0 || append.from >= this.#first, "entries are written within the log");
    invariant(append.resetTo !== null || append.from <= this.#meta.last + 1, "the log is written densely", () => {
      return `from ${append.from}, last ${this.#meta.last}`;
    });
    const lastTerm = lastRow === undefined ? this.#termBefore(append.from) : entryTerm(lastRow);
    this.#writeMeta(
      {
        ...this.#meta,
        writeSeq: append.writeSeq,
        term: append.term,
        vote: append.vote,
        commit: append.commit,
        last,
        lastTerm,
      },
      append,
      done,
    );
  }

  /** Makes a new start of the directory durable, in row `m` and in the fence, before anything else is written. */
  writeBoot(boot: number, hardState: { readonly term: number; readonly vote: number }, done: () => void): void {
    const writeSeq = this.#meta.writeSeq + 1;
    this.#writeMeta({ ...this.#meta, ...hardState, boot, writeSeq }, null, done);
  }

  term(index: number): number {
    if (index === this.#first - 1) {
      return this.#prevTerm;
    }
    return entryTerm(this.#read(index));
  }

  entries(from: number, to: number, maxBytes: number): Uint8Array[] {
    const rows: Uint8Array[] = [];
    let bytes = 0;
    this.#rocks.scan(entryKey(from), entryKey(to + 1), ({ value }) => {
      bytes += value.length;
      if (rows.length > 0 && bytes > maxBytes) {
        return false;
      }
      this.#check(from + rows.length, value);
      rows.push(value);
      return bytes < maxBytes;
    });
    if (rows.length === 0) {
      this.#damaged(from, "is missing");
    }
    return rows;
  }

  compact(first: number, prevTerm: number): void {
    invariant(first >= this.#first && first <= this.#meta.last + 1, "compaction stays within the log");
    this.#first = first;
    this.#prevTerm = prevTerm;
  }

  /** Finishes the write in flight, syncs the fence and ends the thread; the caller closes the store afterwards. */
  close(): Promise<void> {
    return this.#thread.close({ kind: "close" });
  }

  #writeMeta(meta: LogMeta, append: AppendEffect | null, done: (writeSeq: number, durationMs: number) => void): void {
    invariant(this.#done === null, "one log write is in flight at a time");
    invariant(meta.writeSeq > this.#meta.writeSeq, "write sequences grow", () => String(meta.writeSeq));
    const before = this.#meta;
    const next = { ...meta, first: this.#first, prevTerm: this.#prevTerm };
    invariant(next.commit <= next.last, "the log holds what is committed", () => `${next.commit} > ${next.last}`);
    const changes: Change[] = [{ key: LOG_META_KEY, value: encodeLogMeta(next) }];
    for (const row of append?.rows ?? []) {
      changes.push({ key: entryKey(entryIndex(row)), value: row });
    }
    for (let index = next.last + 1; index <= before.last; index++) {
      changes.push({ key: entryKey(index), value: null });
    }
    if (next.first > before.first) {
      this.#clearBelow = next.first;
    }
    this.#meta = next;
    this.#done = done;
    this.#fenceCounter++;
    const fence: Fence = { ...next, counter: this.#fenceCounter };
    const encoded = encodeChanges(changes);
    const syncFence = next.term !== before.term || next.vote !== before.vote || next.boot !== before.boot;
    this.#thread.post(
      {
        kind: "write",
        writeSeq: next.writeSeq,
        changes: encoded,
        fence: encodeFence(fence),
        fenceOffset: fenceOffset(this.#fenceCounter),
        syncFence,
      },
      [encoded],
    );
  }

  #onWritten(writeSeq: number, durationMs: number): void {
    const done = this.#done;
    invariant(done !== null && writeSeq === this.#meta.writeSeq, "acknowledgements come in order");
    this.#done = null;
    if (this.#clearBelow > 0 && !this.#thread.isClosing) {
      this.#thread.post({ kind: "clear", from: entryKey(0), to: entryKey(this.#clearBelow) });
      this.#clearBelow = 0;
    }
    done(writeSeq, durationMs);
  }

  #termBefore(index: number): number {
    if (index === this.#first) {
      return this.#prevTerm;
    }
    return index - 1 === this.#meta.last ? this.#meta.lastTerm : this.term(index - 1);
  }

  #read(index: number): Uint8Array {
    const row = this.#rocks.get(entryKey(index));
    if (row === undefined) {
      this.#damaged(index, "is missing");
    }
    this.#check(index, row);
    return row;
  }

  #check(index: number, row: Uint8Array): void {
    if (!isIntactEntry(row, crc32)) {
      this.#damaged(index, "fails its checksum");
    }
    if (entryIndex(row) !== index) {
      this.#damaged(index, `is not in its place, but entry ${entryIndex(row)} is`);
    }
  }

  #damaged(index: number, problem: string): never {
    throw new StoreError("corruption", `entry ${index} of the Raft log ${problem}`);
  }
}
