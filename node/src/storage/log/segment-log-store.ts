/**
 * The Raft log in segments.
 *
 * The log thread writes each append as one synced record: the whole row `m`, and the new entries, which replace all from
 * their first one on. It writes the mirror after each record and before its acknowledgement. Every read verifies the
 * checksums of its entries, and every start reads all of them.
 */

import { crc32 } from "node:zlib";
import { invariant } from "../../primitives/index.ts";
import {
  type AppendEffect,
  entryIndex,
  entryTerm,
  isIntactEntry,
  type LogBounds,
  type LogReset,
} from "../../raft/index.ts";
import { encodeMirror, type HardStateMirror, mirrorOffset, StoreError } from "../files/index.ts";
import { StoreThread } from "../thread/index.ts";
import type { LogFiles } from "./log-files.ts";
import type { LogMeta } from "./log-meta.ts";
import type { LogStore } from "./log-store.ts";
import type { LogReply, LogRequest, LogThreadData } from "./log-thread.ts";
import { encodeRecord } from "./segment.ts";

/**
 * A segment with so many bytes is full. Entries stay until all of their segment can go: a smaller one keeps fewer of
 * them, and each takes a sync of the directory.
 */
const SEGMENT_BYTES = 16 * 1024 * 1024;

export interface SegmentLogStoreOptions {
  readonly files: LogFiles;
  readonly mirrorPath: string;
  /** The current row `m`: that of the files, unless they have none. */
  readonly meta: LogMeta;
  /** The fields that only the mirror has. */
  readonly mirror: MirrorFlags;
  /** Called when a write, a read or the thread fails; no write is acknowledged afterwards. */
  readonly onFatal: (error: StoreError) => void;
  /** Bytes of a full segment; by default 16 MiB. */
  readonly segmentBytes?: number | undefined;
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

export class SegmentLogStore implements LogStore {
  readonly #files: LogFiles;
  readonly #segmentBytes: number;
  readonly #thread: StoreThread<LogRequest, LogReply>;
  readonly #onFatal: (error: StoreError) => void;
  #meta: LogMeta;
  #mirror: MirrorFlags;
  #first: number;
  #prevTerm: number;
  #done: ((writeSeq: number, durationMs: number) => void) | null = null;
  #onDamageCleared: (() => void) | null = null;

  constructor(options: SegmentLogStoreOptions) {
    this.#files = options.files;
    this.#segmentBytes = options.segmentBytes ?? SEGMENT_BYTES;
    this.#meta = options.meta;
    this.#first = options.meta.first;
    this.#prevTerm = options.meta.prevTerm;
    this.#onFatal = options.onFatal;
    // Copy only these fields: with a whole mirror, `#nextMirror` would overwrite the fields of each write.
    const { counter, damaged, isSoleVoter } = options.mirror;
    this.#mirror = { counter, damaged, isSoleVoter };
    const data: LogThreadData = {
      directory: this.#files.directory,
      mirrorPath: options.mirrorPath,
      end: this.#files.end,
    };
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

  /** Finishes the write in flight, syncs the mirror and ends the thread. The caller must close the files afterwards. */
  close(): Promise<void> {
    return this.#thread.close({ kind: "close" });
  }

  #writeMeta(meta: LogMeta, append: AppendEffect | null, done: (writeSeq: number, durationMs: number) => void): void {
    invariant(this.#done === null, "one log write is in flight at a time");
    invariant(meta.writeSeq > this.#meta.writeSeq, "write sequences grow", () => String(meta.writeSeq));
    const before = this.#meta;
    const next = { ...meta, first: this.#first, prevTerm: this.#prevTerm };
    invariant(next.commit <= next.last, "the log holds what is committed", () => `${next.commit} > ${next.last}`);
    const rows = append?.rows ?? [];
    const record = encodeRecord(next, rows);
    const { number, offset } = this.#files.end;
    const isNext = number === 0 || offset >= this.#segmentBytes;
    this.#files.add({ bytes: record.length, first: next.first, from: next.last - rows.length + 1, rows }, isNext);
    this.#meta = next;
    this.#done = done;
    // The first write records the owner of the directory. Votes and starts must not be lost either.
    const isFirst = before.writeSeq === 0;
    const hasVoted = next.term !== before.term || next.vote !== before.vote;
    const syncMirror = isFirst || hasVoted || next.boot !== before.boot;
    this.#thread.post(
      { kind: "write", writeSeq: next.writeSeq, record: record.buffer, isNext, ...this.#nextMirror(next), syncMirror },
      [record.buffer],
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
    const { firstNeeded } = this.#files;
    if (firstNeeded > this.#files.firstStored && !this.#thread.isClosing) {
      this.#files.forget(firstNeeded);
      this.#thread.post({ kind: "clear", below: firstNeeded });
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
    for (let index = from; index <= to; index += Math.max(1, to - from)) {
      if (!this.#files.has(index)) {
        this.#corrupt(index, "is missing");
      }
    }
    const rows = this.#files.read(from, to, maxBytes);
    for (const [at, row] of rows.entries()) {
      this.#check(from + at, row);
    }
    return rows;
  }

  #read(index: number): Uint8Array {
    return this.#readRows(index, index, 0)[0] as Uint8Array;
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
