/**
 * The log store of one simulated process.
 *
 * Only one write at a time goes to the disk, which takes some time and may stall. The write lands as a whole, then the
 * mirror, and then the process gets the acknowledgement. If the process dies in between, the write may have landed or
 * not.
 */

import { invariant } from "../../src/primitives/index.ts";
import { type AppendEffect, entryIndex, entryTerm } from "../../src/raft/index.ts";
import type { LogStore } from "../../src/storage/index.ts";
import type { Disk, LogMeta } from "./disk.ts";
import type { EventHeap } from "./event-heap.ts";
import { type ProcessLoop, passPoint } from "./process-loop.ts";
import type { RandomStream } from "./random.ts";

export interface SimLogOptions {
  readonly disk: Disk;
  readonly heap: EventHeap;
  readonly loop: ProcessLoop;
  readonly random: RandomStream;
  /** Mean duration of a write, in milliseconds. */
  readonly writeMs: () => number;
  /** The disk does nothing until this time. */
  readonly stalledUntilMs: () => number;
  /** The process hands over a write, with the log that it leads to. */
  readonly onWrite: (append: AppendEffect, meta: LogMeta) => void;
  /** A write is on the disk, whether or not the process still hears of it. */
  readonly onLanded: (meta: LogMeta) => void;
  /** A write is acknowledged. */
  readonly onDurable: (meta: LogMeta) => void;
  readonly onHealed: () => void;
  /** Whether the write that would land now fails. */
  readonly takeFailure: () => boolean;
  /** A write has failed. */
  readonly onFailed: () => void;
}

interface Writing {
  readonly append: AppendEffect;
  readonly meta: LogMeta;
  hasLanded: boolean;
  isFenced: boolean;
}

/** Between a batch and its mirror, and between the mirror and the acknowledgement, in milliseconds. */
const STEP_MS = 0.05;

export class SimLog implements LogStore {
  readonly #options: SimLogOptions;
  #meta: LogMeta;
  #first: number;
  #prevTerm: number;
  #sole: boolean;
  #writing: Writing | null = null;
  /** When the log thread has finished its present work. */
  #freeMs = 0;
  #isHealing = false;

  constructor(options: SimLogOptions) {
    this.#options = options;
    this.#meta = options.disk.meta;
    this.#first = this.#meta.first;
    this.#prevTerm = this.#meta.prevTerm;
    this.#sole = options.disk.mirror.sole;
  }

  /** The row of an entry, if the log holds it durably or is writing it. */
  row(index: number): Uint8Array | undefined {
    const append = this.#writing?.append;
    const written = append?.rows[index - append.from];
    if (append !== undefined && index >= append.from) {
      return written;
    }
    return this.#options.disk.rows.get(index);
  }

  get isWriting(): boolean {
    return this.#writing !== null;
  }

  /** The write in flight, and the bytes of its rows. */
  get writing(): { readonly writeSeq: number; readonly bytes: number } | null {
    if (this.#writing === null) {
      return null;
    }
    const { writeSeq, rows } = this.#writing.append;
    return { writeSeq, bytes: rows.reduce((sum, { length }) => sum + length, 0) };
  }

  write(append: AppendEffect, done: (writeSeq: number, durationMs: number) => void): void {
    passPoint();
    invariant(this.#writing === null, "one log write is in flight at a time");
    invariant(append.writeSeq > this.#meta.writeSeq, "write sequences grow");
    if (append.resetTo !== null) {
      this.#first = append.resetTo.index + 1;
      this.#prevTerm = append.resetTo.term;
      invariant(append.from === this.#first, "a log that is reset starts right after the reset index");
    }
    invariant(append.rows.length === 0 || append.from >= this.#first, "entries are written within the log");
    invariant(append.resetTo !== null || append.from <= this.#meta.last + 1, "the log is written densely");
    const { writeSeq, term, vote, commit, from, rows } = append;
    const newest = rows.at(-1);
    const meta: LogMeta = {
      boot: this.#meta.boot,
      writeSeq,
      term,
      vote,
      commit,
      first: this.#first,
      prevTerm: this.#prevTerm,
      last: from + rows.length - 1,
      lastTerm: newest === undefined ? this.#termBefore(from) : entryTerm(newest),
    };
    invariant(meta.commit <= meta.last, "the log holds what is committed", () => `${meta.commit} > ${meta.last}`);
    this.#options.onWrite(append, meta);
    this.#meta = meta;
    const writing: Writing = { append, meta, hasLanded: false, isFenced: false };
    this.#writing = writing;
    this.#schedule(writing, done);
    passPoint();
  }

  compact(first: number, prevTerm: number): void {
    passPoint();
    invariant(first >= this.#first && first <= this.#meta.last + 1, "compaction stays within the log");
    this.#first = first;
    this.#prevTerm = prevTerm;
  }

  clearDamage(done: () => void): void {
    passPoint();
    const { disk, heap, loop, onHealed } = this.#options;
    invariant(disk.mirror.damaged && !this.#isHealing, "a damaged member heals once");
    this.#isHealing = true;
    heap.at(this.#begins() + STEP_MS, () => {
      if (!loop.isDead) {
        disk.mirror = { ...disk.mirror, damaged: false };
        disk.syncedMirror = disk.mirror;
        onHealed();
        loop.arrive(done);
      }
    });
  }

  setSoleVoter(isSole: boolean): void {
    this.#sole = isSole;
  }

  term(index: number): number {
    return index === this.#first - 1 ? this.#prevTerm : entryTerm(this.#read(index));
  }

  entries(from: number, to: number, maxBytes: number): Uint8Array[] {
    const rows: Uint8Array[] = [];
    let bytes = 0;
    for (let index = from; index <= to; index++) {
      const row = this.#read(index);
      bytes += row.length;
      if (rows.length > 0 && bytes > maxBytes) {
        break;
      }
      rows.push(row);
    }
    return rows;
  }

  /** The process has died; `hasReached` returns how far a step in flight had come. */
  crash(hasReached: () => boolean): void {
    const writing = this.#writing;
    if (writing === null) {
      return;
    }
    this.#writing = null;
    if (!writing.hasLanded && hasReached()) {
      this.#land(writing);
    }
    if (writing.hasLanded && !writing.isFenced && hasReached()) {
      this.#mirror(writing);
    }
  }

  #read(index: number): Uint8Array {
    const row = this.#options.disk.rows.get(index);
    invariant(row !== undefined && index >= this.#first, "the log holds what is read", () => `entry ${index}`);
    return row;
  }

  #termBefore(from: number): number {
    if (from === this.#first) {
      return this.#prevTerm;
    }
    return from - 1 === this.#meta.last ? this.#meta.lastTerm : this.term(from - 1);
  }

  #begins(): number {
    const { heap, stalledUntilMs } = this.#options;
    return Math.max(heap.nowMs, this.#freeMs, stalledUntilMs());
  }

  #schedule(writing: Writing, done: (writeSeq: number, durationMs: number) => void): void {
    const { heap, loop, random, writeMs, onDurable, takeFailure, onFailed } = this.#options;
    const startMs = heap.nowMs;
    const landsMs = this.#begins() + random.exponential(writeMs());
    this.#freeMs = landsMs + 2 * STEP_MS;
    const step = (atMs: number, action: () => void): void => {
      heap.at(atMs, () => {
        // A dead process takes its thread with it; the outcome of the write is decided at its death.
        if (!loop.isDead) {
          action();
        }
      });
    };
    step(landsMs, () => {
      if (takeFailure()) {
        // The process ends. The outcome of the write is decided as in any other end.
        onFailed();
      } else {
        this.#land(writing);
      }
    });
    step(landsMs + STEP_MS, () => this.#mirror(writing));
    step(this.#freeMs, () => {
      this.#writing = null;
      onDurable(writing.meta);
      loop.arrive(() => done(writing.append.writeSeq, heap.nowMs - startMs));
    });
  }

  #land(writing: Writing): void {
    const { disk } = this.#options;
    const { append, meta } = writing;
    writing.hasLanded = true;
    for (const row of append.rows) {
      disk.rows.set(entryIndex(row), row.slice());
    }
    for (const index of disk.rows.keys()) {
      if (index < meta.first || index > meta.last) {
        disk.rows.delete(index);
      }
    }
    disk.meta = meta;
    this.#options.onLanded(meta);
  }

  #mirror(writing: Writing): void {
    const { disk } = this.#options;
    const { boot, writeSeq, term, vote } = writing.meta;
    const before = disk.mirror;
    writing.isFenced = true;
    disk.mirror = { ...before, boot, writeSeq, term, vote, sole: this.#sole };
    if (term !== before.term || vote !== before.vote || this.#sole !== before.sole) {
      disk.syncedMirror = disk.mirror;
    }
  }
}
