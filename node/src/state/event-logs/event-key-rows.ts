/**
 * A row of remembered event keys as bytes: when its timer is due, then its runs in the order of positions. No position
 * is in two runs.
 *
 * A row may have hundreds of thousands of runs, so it is read in place and written as one block, without an object for
 * each run. Layout, big-endian: due (8), number of runs (4), then for each run position (4), count (4), first sequence
 * (8), tick (8).
 */

import { invariant, readUint32, readUint53, writeUint32, writeUint53 } from "../../primitives/index.ts";
import { SequenceRuns, STEP_ITEMS, type Steps } from "../core/index.ts";
import { BATCH_EVENTS_MAX } from "./log-commands.ts";

const COUNT_OFFSET = 8;
const RUNS_OFFSET = 12;
/** Offsets of the fields in a run. */
const RUN_COUNT = 4;
const RUN_SEQUENCE = 8;
const RUN_TICK = 16;
const RUN_BYTES = 24;

/** Whether an event stored at this tick, in cluster milliseconds, is still remembered. */
export type IsStored = (tickMs: number) => boolean;

/** A stored row: runs of events, each with the cluster tick, in milliseconds, at which they were stored. */
export class EventKeyRow {
  readonly bytes: Uint8Array;
  /** Number of runs. */
  readonly length: number;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.length = readUint32(bytes, COUNT_OFFSET);
    invariant(bytes.length === RUNS_OFFSET + this.length * RUN_BYTES, "rows of keys are as long as their runs", () => {
      return `${this.length} runs in ${bytes.length} bytes`;
    });
  }

  /** When the timer of the row is due, in cluster milliseconds. */
  get dueMs(): number {
    return readUint53(this.bytes, 0);
  }

  positionOf(run: number): number {
    return readUint32(this.bytes, RUNS_OFFSET + run * RUN_BYTES);
  }

  countOf(run: number): number {
    const count = readUint32(this.bytes, RUNS_OFFSET + run * RUN_BYTES + RUN_COUNT);
    invariant(this.positionOf(run) + count <= BATCH_EVENTS_MAX, "positions are those of a batch");
    return count;
  }

  firstSequenceOf(run: number): number {
    return readUint53(this.bytes, RUNS_OFFSET + run * RUN_BYTES + RUN_SEQUENCE);
  }

  tickOf(run: number): number {
    return readUint53(this.bytes, RUNS_OFFSET + run * RUN_BYTES + RUN_TICK);
  }

  /** The sequence stored for a position; undefined if there is none. */
  sequenceAt(position: number, isStored: IsStored): number | undefined {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.positionOf(middle) <= position) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const run = low - 1;
    if (run < 0 || position >= this.positionOf(run) + this.countOf(run) || !isStored(this.tickOf(run))) {
      return undefined;
    }
    return this.firstSequenceOf(run) + position - this.positionOf(run);
  }
}

/** Events to remember. */
export interface AddedRuns {
  readonly runs: SequenceRuns;
  /** How far to shift their positions. */
  readonly shift: number;
  /** Cluster tick, in milliseconds. */
  readonly tickMs: number;
}

export const NOTHING_ADDED: AddedRuns = { runs: SequenceRuns.NONE, shift: 0, tickMs: 0 };

/**
 * The row with its runs that are still remembered and the added ones; null if there are none. It is due when the oldest
 * run has been remembered for `windowMs`.
 */
export function* mergedRow(
  before: EventKeyRow | undefined,
  isStored: IsStored,
  added: AddedRuns,
  windowMs: number,
): Steps<EventKeyRow | null> {
  const merge = new RowMerge(before, isStored, added);
  while (merge.advance(STEP_ITEMS)) {
    yield;
  }
  return merge.finish(windowMs);
}

class RowMerge {
  readonly #before: EventKeyRow | undefined;
  readonly #isStored: IsStored;
  readonly #added: AddedRuns;
  readonly #bytes: Uint8Array;
  #end = RUNS_OFFSET;
  #earliestMs = Infinity;
  /** Runs already merged: of the old row, and of the added ones. */
  #kept = 0;
  #next = 0;

  constructor(before: EventKeyRow | undefined, isStored: IsStored, added: AddedRuns) {
    this.#before = before;
    this.#isStored = isStored;
    this.#added = added;
    this.#bytes = new Uint8Array(RUNS_OFFSET + ((before?.length ?? 0) + added.runs.length) * RUN_BYTES);
  }

  /** Advances by at most this many runs; returns whether there may be more. */
  advance(runsMax: number): boolean {
    const before = this.#before;
    const { runs, shift, tickMs } = this.#added;
    for (let left = runsMax; left > 0; left--) {
      const addedAt = this.#next < runs.length ? runs.positionOf(this.#next) + shift : Infinity;
      if (before !== undefined && this.#kept < before.length && before.positionOf(this.#kept) < addedAt) {
        const run = this.#kept++;
        const storedMs = before.tickOf(run);
        if (this.#isStored(storedMs)) {
          this.#write(before.positionOf(run), before.countOf(run), before.firstSequenceOf(run), storedMs);
        }
      } else if (this.#next < runs.length) {
        this.#write(addedAt, runs.countOf(this.#next), runs.firstSequenceOf(this.#next), tickMs);
        this.#next++;
      } else {
        return false;
      }
    }
    return true;
  }

  finish(windowMs: number): EventKeyRow | null {
    const end = this.#end;
    if (end === RUNS_OFFSET) {
      return null;
    }
    const bytes = end === this.#bytes.length ? this.#bytes : this.#bytes.slice(0, end);
    writeUint53(bytes, 0, this.#earliestMs + windowMs);
    writeUint32(bytes, COUNT_OFFSET, (end - RUNS_OFFSET) / RUN_BYTES);
    return new EventKeyRow(bytes);
  }

  #write(position: number, count: number, firstSequence: number, storedMs: number): void {
    const bytes = this.#bytes;
    const at = this.#end;
    writeUint32(bytes, at, position);
    writeUint32(bytes, at + RUN_COUNT, count);
    writeUint53(bytes, at + RUN_SEQUENCE, firstSequence);
    writeUint53(bytes, at + RUN_TICK, storedMs);
    this.#end = at + RUN_BYTES;
    this.#earliestMs = Math.min(this.#earliestMs, storedMs);
  }
}
