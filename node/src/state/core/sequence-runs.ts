/**
 * The sequences of the events of an append, as runs: events that are consecutive in the append and have consecutive
 * sequences. A batch may have half a million runs, so they are numbers in one block instead of objects.
 */

import type { Field } from "./fields.ts";
import { STEP_ITEMS, type Steps } from "./steps.ts";

/** Position of the first event in the append, number of events, and sequence of the first one. */
export interface SequenceRun {
  readonly position: number;
  readonly count: number;
  readonly firstSequence: number;
}

const NUMBERS_PER_RUN = 3;
/** No sequence: sequences of events begin at 1. */
const ABSENT = 0;

/** In the order of positions; no position is in two runs. */
export class SequenceRuns {
  static readonly NONE = new SequenceRuns(new Float64Array(0));

  /** Position, count and first sequence of each run, one run after the other. */
  readonly numbers: Float64Array;

  /** Uses the numbers without a copy. */
  constructor(numbers: Float64Array) {
    this.numbers = numbers;
  }

  static of(runs: readonly SequenceRun[]): SequenceRuns {
    return new SequenceRuns(
      Float64Array.from(runs.flatMap(({ position, count, firstSequence }) => [position, count, firstSequence])),
    );
  }

  /** One run. */
  static one(position: number, count: number, firstSequence: number): SequenceRuns {
    return new SequenceRuns(Float64Array.of(position, count, firstSequence));
  }

  /** Number of runs. */
  get length(): number {
    return this.numbers.length / NUMBERS_PER_RUN;
  }

  positionOf(run: number): number {
    return this.numbers[run * NUMBERS_PER_RUN] as number;
  }

  countOf(run: number): number {
    return this.numbers[run * NUMBERS_PER_RUN + 1] as number;
  }

  firstSequenceOf(run: number): number {
    return this.numbers[run * NUMBERS_PER_RUN + 2] as number;
  }

  /** The position after the run. */
  endOf(run: number): number {
    return this.positionOf(run) + this.countOf(run);
  }
}

export const sequenceRuns: Field<SequenceRuns> = {
  write: (writer, { numbers }) => {
    writer.uint32(numbers.length / NUMBERS_PER_RUN);
    for (const number of numbers) {
      writer.uint53(number);
    }
  },
  read: (reader) => {
    const numbers = new Float64Array(reader.uint32() * NUMBERS_PER_RUN);
    for (let at = 0; at < numbers.length; at++) {
      numbers[at] = reader.uint53();
    }
    return new SequenceRuns(numbers);
  },
};

/** Takes runs in the order of positions. */
export class SequenceRunsWriter {
  #numbers: Float64Array;
  #length = 0;

  /** @param capacity number of runs allocated at the start; it grows as needed */
  constructor(capacity = 1) {
    this.#numbers = new Float64Array(capacity * NUMBERS_PER_RUN);
  }

  /** Adds a run. */
  push(position: number, count: number, firstSequence: number): void {
    const at = this.#length;
    if (at === this.#numbers.length) {
      const larger = new Float64Array(Math.max(NUMBERS_PER_RUN, at * 2));
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    const numbers = this.#numbers;
    numbers[at] = position;
    numbers[at + 1] = count;
    numbers[at + 2] = firstSequence;
    this.#length = at + NUMBERS_PER_RUN;
  }

  /** Adds the first `count` of these runs. The writer must be empty and have enough capacity. */
  pushFirst(runs: SequenceRuns, count: number): void {
    this.#length = count * NUMBERS_PER_RUN;
    this.#numbers.set(runs.numbers.subarray(0, this.#length));
  }

  /** Adds events: to the last run if positions and sequences continue it, else as a new run. */
  join(position: number, count: number, firstSequence: number): void {
    const numbers = this.#numbers;
    const last = this.#length - NUMBERS_PER_RUN;
    if (last >= 0) {
      const lastCount = numbers[last + 1] as number;
      if (
        (numbers[last] as number) + lastCount === position &&
        (numbers[last + 2] as number) + lastCount === firstSequence
      ) {
        numbers[last + 1] = lastCount + count;
        return;
      }
    }
    this.push(position, count, firstSequence);
  }

  /** The added runs. Nothing can be added afterwards. */
  finish(): SequenceRuns {
    return this.#length === 0 ? SequenceRuns.NONE : new SequenceRuns(this.#numbers.subarray(0, this.#length));
  }
}

/** All positions of both, in order, each with the greater sequence: that of the event stored last. */
export function* withLaterSequences(some: SequenceRuns, others: SequenceRuns): Steps<SequenceRuns> {
  const merge = new LaterSequences(some, others);
  while (merge.advance(STEP_ITEMS)) {
    yield;
  }
  return merge.finish();
}

class LaterSequences {
  readonly #some: SequenceRuns;
  readonly #others: SequenceRuns;
  readonly #all: SequenceRunsWriter;
  #one = 0;
  #other = 0;
  #position = 0;

  constructor(some: SequenceRuns, others: SequenceRuns) {
    this.#some = some;
    this.#others = others;
    this.#all = new SequenceRunsWriter(some.length + others.length);
  }

  /** Advances by at most this many runs; returns whether there are more. */
  advance(runsMax: number): boolean {
    const some = this.#some;
    const others = this.#others;
    let left = runsMax;
    while (left > 0 && (this.#one < some.length || this.#other < others.length)) {
      left--;
      const begin = Math.min(beginOf(some, this.#one, this.#position), beginOf(others, this.#other, this.#position));
      const one = sequenceIn(some, this.#one, begin);
      const other = sequenceIn(others, this.#other, begin);
      const end = Math.min(
        one === ABSENT ? beginOf(some, this.#one, begin) : some.endOf(this.#one),
        other === ABSENT ? beginOf(others, this.#other, begin) : others.endOf(this.#other),
      );
      this.#all.join(begin, end - begin, Math.max(one, other));
      this.#position = end;
      this.#one += this.#one < some.length && some.endOf(this.#one) === end ? 1 : 0;
      this.#other += this.#other < others.length && others.endOf(this.#other) === end ? 1 : 0;
    }
    return left === 0;
  }

  finish(): SequenceRuns {
    return this.#all.finish();
  }
}

/** The first position of a run at or after this position; infinity without a run. */
function beginOf(runs: SequenceRuns, run: number, position: number): number {
  return run < runs.length ? Math.max(runs.positionOf(run), position) : Infinity;
}

/** The sequence of a position that is not after the run; ABSENT if it is not in the run. */
function sequenceIn(runs: SequenceRuns, run: number, position: number): number {
  if (run >= runs.length || position < runs.positionOf(run)) {
    return ABSENT;
  }
  return runs.firstSequenceOf(run) + position - runs.positionOf(run);
}
