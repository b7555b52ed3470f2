/**
 * The Raft log in RocksDB: row `m`, and one row per entry under `e` and its index.
 *
 * The log thread writes each append as one synced batch: the whole row `m`, the new rows, and a deletion for each old
 * index above the new last one. It writes the mirror after each batch and before its acknowledgement. Every read
 * verifies the checksums of its rows, and every start reads all rows.
 */

import { crc32 } from "node:zlib";
import { invariant, writeUint53 } from "../../primitives/index.ts";
import {
  type AppendEffect,
  entryIndex,
  entryTerm,
  isIntactEntry,
  type LogBounds,
  type LogReset,
} from "../../raft/index.ts";
import type { Change } from "../../state/index.ts";
import { encodeMirror, type HardStateMirror, mirrorOffset, StoreError } from "../files/index.ts";
import { encodeChanges, type Rocks, StoreThread } from "../rocks/index.ts";
import { encodeLogMeta, type LogMeta } from "./log-meta.ts";
import type { LogStore } from "./log-store.ts";
import type { LogReply, LogRequest, LogThreadData } from "./log-thread.ts";

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
  readonly mirrorPath: string;
  /** The current row `m` of the store. */
  readonly meta: LogMeta;
  /** The fields that only the mirror has. */
  readonly mirror: MirrorFlags;
  /** Called when a write, a read or the thread fails; no write is acknowledged afterwards. */
  readonly onFatal: (error: StoreError) => void;
}

export type MirrorFlags = Pick<HardStateMirror, "counter" | "damaged" | "isSoleVoter">;

/** A start of the directory: its boot number, and its initial hard state. */
export interface LogStart {
  readonly boot: number;
  readonly term: number;
  readonly vote: number;
  /** An index known to be committed; ignored if the log is reset. */
  readonly commit: number;
  /** The log is reset to begin after this entry, whose effects are durable in the state; null = no reset. */
  readonly resetTo: LogReset | null;
}

export class RocksLogStore implements LogStore {
  readonly #rocks: Rocks;
  readonly #thread: StoreThread<LogRequest, LogReply>;
  readonly #onFatal: (error: StoreError) => void;
  #meta: LogMeta;
  #mirror: MirrorFlags;
  #first: number;
  #prevTerm: number;
  #done: ((writeSeq: number, durationMs: number) => void) | null = null;
  #onDamageCleared: (() => void) | null = null;
  #clearBelow = 0;

  constructor(options: RocksLogStoreOptions) {
    this.#rocks = options.rocks;
    this.#meta = options.meta;
    this.#first = options.meta.first;
    this.#prevTerm = options.meta.prevTerm;
    this.#onFatal = options.onFatal;
    // Copy only these fields: with a whole mirror, `#nextMirror` would overwrite the fields of each write.
    const { counter, damaged, isSoleVoter } = options.mirror;
    this.#mirror = { counter, damaged, isSoleVoter };
    const data: LogThreadData = { handle: options.rocks.handle, mirrorPath: options.mirrorPath };
    this.#thread = new StoreThread(
      new URL("./log-thread.ts", import.meta.url),
      "log",
      data,
      (reply: LogReply) => this.#onReply(reply),
      options.onFatal,
    );
  }

  /** Bounds of the log as of the last write that was handed to the thread. */
  get bounds(): LogBounds {
    const { last, lastTerm } = this.#meta;
    return { first: this.#first, prevTerm: this.#prevTerm, last, lastTerm };
  }

  get meta(): LogMeta {
    return this.#meta;
  }

  /** Whether acknowledged data was lost and is not known to be back. */
  get isDamaged(): boolean {
    return this.#mirror.damaged;
  }

  write(append: AppendEffect, done: (writeSeq: number, durationMs: number) => void): void {
    if (append.resetTo !== null) {
      // The state has everything up to there, so the log continues after it and drops its entries.
      this.#resetTo(append.resetTo);
      invariant(append.from === this.#first, "a log that is reset begins right after the reset point");
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

  /** Makes a new start of the directory durable, in row `m` and in the mirror, before anything else is written. */
  writeStart({ boot, term, vote, commit, resetTo }: LogStart, done: () => void): void {
    let meta = { ...this.#meta, boot, term, vote, commit, writeSeq: this.#meta.writeSeq + 1 };
    if (resetTo !== null) {
      this.#resetTo(resetTo);
      meta = { ...meta, commit: resetTo.index, last: resetTo.index, lastTerm: resetTo.term };
    }
    this.#writeMeta(meta, null, done);
  }

  clearDamage(done: () => void): void {
    invariant(this.#mirror.damaged && this.#onDamageCleared === null, "a damaged member heals once");
    this.#onDamageCleared = done;
    this.#mirror = { ...this.#mirror, damaged: false };
    this.#writeMirror(true);
  }

  setSoleVoter(isSoleVoter: boolean): void {
    if (isSoleVoter !== this.#mirror.isSoleVoter && !this.#thread.isClosing) {
      this.#mirror = { ...this.#mirror, isSoleVoter: isSoleVoter };
      this.#writeMirror(false);
    }
  }

  term(index: number): number {
    if (index === this.#first - 1) {
      return this.#prevTerm;
    }
    return this.#orFatal(() => entryTerm(this.#read(index)));
  }

  entries(from: number, to: number, maxBytes: number): Uint8Array[] {
    return this.#orFatal(() => this.#readRows(from, to, maxBytes));
  }

  compact(first: number, prevTerm: number): void {
    invariant(first >= this.#first && first <= this.#meta.last + 1, "compaction stays within the log");
    this.#first = first;
    this.#prevTerm = prevTerm;
  }

  /** Finishes the write in flight, syncs the mirror and ends the thread. The caller must close the store afterwards. */
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
    const encoded = encodeChanges(changes);
    // The first write records the owner of the directory. Votes and starts must not be lost either.
    const isFirst = before.writeSeq === 0;
    const hasVoted = next.term !== before.term || next.vote !== before.vote;
    const syncMirror = isFirst || hasVoted || next.boot !== before.boot;
    this.#thread.post(
      { kind: "write", writeSeq: next.writeSeq, changes: encoded, ...this.#nextMirror(next), syncMirror },
      [encoded],
    );
  }

  /** Writes only the mirror. A write in flight is durable before it, because the thread works in order. */
  #writeMirror(clearsDamage: boolean): void {
    this.#thread.post({ kind: "mirror", ...this.#nextMirror(this.#meta), clearsDamage });
  }

  #nextMirror(meta: LogMeta): { readonly mirror: Uint8Array; readonly mirrorOffset: number } {
    const counter = this.#mirror.counter + 1;
    this.#mirror = { ...this.#mirror, counter };
    return { mirror: encodeMirror({ ...meta, ...this.#mirror }), mirrorOffset: mirrorOffset(counter) };
  }

  #resetTo({ index, term }: LogReset): void {
    this.#first = index + 1;
    this.#prevTerm = term;
  }

  #onReply(reply: LogReply): void {
    if (reply.kind === "written") {
      this.#onWritten(reply.writeSeq, reply.durationMs);
    } else {
      const healed = this.#onDamageCleared;
      invariant(healed !== null, "a healing is acknowledged when it was asked for");
      this.#onDamageCleared = null;
      healed();
    }
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

  #readRows(from: number, to: number, maxBytes: number): Uint8Array[] {
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
      this.#corrupt(from, "is missing");
    }
    return rows;
  }

  #read(index: number): Uint8Array {
    const row = this.#rocks.get(entryKey(index));
    if (row === undefined) {
      this.#corrupt(index, "is missing");
    }
    this.#check(index, row);
    return row;
  }

  #check(index: number, row: Uint8Array): void {
    if (!isIntactEntry(row, crc32)) {
      this.#corrupt(index, "fails its checksum");
    }
    if (entryIndex(row) !== index) {
      this.#corrupt(index, `is not in its place, but entry ${entryIndex(row)} is`);
    }
  }

  /** A log that cannot be read always ends the member: it must never appear shorter than it is (P30). */
  #orFatal<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof StoreError) {
        this.#onFatal(error);
      }
      throw error;
    }
  }

  #corrupt(index: number, problem: string): never {
    throw new StoreError("corruption", `entry ${index} of the Raft log ${problem}`);
  }
}
