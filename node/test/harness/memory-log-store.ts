/**
 * A Raft log in memory that keeps the contract of LogStore: one write at a time, durable when it is acknowledged.
 *
 * By default a write becomes durable in the turn after its hand-over; a held one waits for the spec. The next start
 * finds the durable log.
 */

import { invariant } from "../../src/primitives/index.ts";
import { type AppendEffect, entryIndex, entryTerm, type LogBounds } from "../../src/raft/index.ts";
import type { Scheduler } from "../../src/replica/index.ts";
import type { LogStore } from "../../src/storage/index.ts";

/** The log that a start finds. */
export interface DurableLog {
  readonly term: number;
  readonly vote: number;
  readonly commit: number;
  readonly writeSeq: number;
  readonly bounds: LogBounds;
}

interface Writing {
  readonly append: AppendEffect;
  readonly bounds: LogBounds;
  readonly done: (writeSeq: number, durationMs: number) => void;
}

/** The duration of a write that is reported. */
const WRITE_MS = 0.3;

export class MemoryLogStore implements LogStore {
  readonly #scheduler: Scheduler;
  readonly #rows = new Map<number, Uint8Array>();
  #durable: DurableLog = {
    term: 0,
    vote: 0,
    commit: 0,
    writeSeq: 0,
    bounds: { first: 1, prevTerm: 0, last: 0, lastTerm: 0 },
  };
  #first = 1;
  #prevTerm = 0;
  #writing: Writing | null = null;
  #healed: (() => void) | null = null;
  #writes: AppendEffect[] = [];
  /** Whether writes wait for `flush`. */
  isHeld = false;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  get durable(): DurableLog {
    return this.#durable;
  }

  /** Every write that was handed over, the oldest first. */
  get writes(): readonly AppendEffect[] {
    return this.#writes;
  }

  get isWriting(): boolean {
    return this.#writing !== null;
  }

  write(append: AppendEffect, done: (writeSeq: number, durationMs: number) => void): void {
    const { last } = this.#durable.bounds;
    invariant(this.#writing === null, "one log write is in flight at a time");
    invariant(append.writeSeq > this.#durable.writeSeq, "write sequences grow");
    if (append.resetTo !== null) {
      this.#first = append.resetTo.index + 1;
      this.#prevTerm = append.resetTo.term;
      invariant(append.from === this.#first, "a log that is reset starts right after the reset index");
    }
    invariant(append.rows.length === 0 || append.from >= this.#first, "entries are written within the log");
    invariant(append.resetTo !== null || append.from <= last + 1, "the log is written densely");
    const newest = append.rows.at(-1);
    const bounds = {
      first: this.#first,
      prevTerm: this.#prevTerm,
      last: append.from + append.rows.length - 1,
      lastTerm: newest === undefined ? this.term(append.from - 1) : entryTerm(newest),
    };
    invariant(append.commit <= bounds.last, "the log holds what is committed");
    this.#writing = { append, bounds, done };
    this.#writes.push(append);
    if (!this.isHeld) {
      this.#scheduler.immediate(() => this.flush());
    }
  }

  /** Whether this member was damaged and is not any more. */
  isHealed = false;
  /** The driver's last report about which members have this member's data. */
  isSole = false;

  clearDamage(done: () => void): void {
    invariant(!this.isHealed && this.#healed === null, "a member heals once");
    this.#healed = done;
    if (!this.isHeld) {
      this.#scheduler.immediate(() => this.flush());
    }
  }

  setSoleVoter(isSole: boolean): void {
    this.isSole = isSole;
  }

  /** Makes the write in flight and then the healing durable, if there are any. */
  flush(): void {
    const [writing, healed] = [this.#writing, this.#healed];
    this.#writing = null;
    this.#healed = null;
    if (writing !== null) {
      this.#finish(writing);
    }
    if (healed !== null) {
      this.isHealed = true;
      healed();
    }
  }

  #finish({ append, bounds, done }: Writing): void {
    for (const row of append.rows) {
      this.#rows.set(entryIndex(row), row.slice());
    }
    for (const index of this.#rows.keys()) {
      if (index < bounds.first || index > bounds.last) {
        this.#rows.delete(index);
      }
    }
    const { term, vote, commit, writeSeq } = append;
    this.#durable = { term, vote, commit, writeSeq, bounds };
    done(writeSeq, WRITE_MS);
  }

  /** The writing process has ended; writes without an acknowledgement did not happen. */
  crash(): void {
    this.#writing = null;
    this.#healed = null;
    this.#writes = [];
    this.#first = this.#durable.bounds.first;
    this.#prevTerm = this.#durable.bounds.prevTerm;
    this.isHeld = false;
  }

  term(index: number): number {
    return index === this.#first - 1 ? this.#prevTerm : entryTerm(this.#row(index));
  }

  entries(from: number, to: number, maxBytes: number): Uint8Array[] {
    const rows: Uint8Array[] = [];
    let bytes = 0;
    for (let index = from; index <= to; index++) {
      const row = this.#row(index);
      bytes += row.length;
      if (rows.length > 0 && bytes > maxBytes) {
        break;
      }
      rows.push(row);
    }
    return rows;
  }

  compact(first: number, prevTerm: number): void {
    invariant(first >= this.#first && first <= this.#durable.bounds.last + 1, "compaction stays within the log");
    this.#first = first;
    this.#prevTerm = prevTerm;
  }

  /** Terms of the durable entries, from the first. */
  get terms(): number[] {
    const { first, last } = this.#durable.bounds;
    return Array.from({ length: last - first + 1 }, (_, at) => this.term(first + at));
  }

  #row(index: number): Uint8Array {
    const row = this.#rows.get(index);
    invariant(row !== undefined, "entries are read from where they were written", () => `entry ${index}`);
    return row;
  }
}
