/**
 * Positions of events in their batch, as runs of consecutive positions. A row of events may have a thousand runs, so
 * they are numbers in one block instead of objects.
 */

import type { RecordReader, RecordWriter } from "../core/index.ts";

const NUMBERS_PER_RUN = 2;

export class PositionRuns {
  /** First position and count of each run, one run after the other. */
  readonly numbers: Uint32Array;

  /** Uses the numbers without a copy. */
  constructor(numbers: Uint32Array) {
    this.numbers = numbers;
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

  /** All but the first `count` positions. */
  without(count: number): PositionRuns {
    let run = 0;
    let left = count;
    while (run < this.length && left >= this.countOf(run)) {
      left -= this.countOf(run++);
    }
    const numbers = this.numbers.slice(run * NUMBERS_PER_RUN);
    if (left > 0 && run < this.length) {
      numbers[0] = this.positionOf(run) + left;
      numbers[1] = this.countOf(run) - left;
    }
    return new PositionRuns(numbers);
  }

  /** Writes the number of runs, and the runs. */
  write(writer: RecordWriter): void {
    writer.uint32(this.length);
    for (const number of this.numbers) {
      writer.uint32(number);
    }
  }

  /** Reads the form of `write`. */
  static read(reader: RecordReader): PositionRuns {
    // Not a typed array yet: a damaged number of runs can be any number.
    const numbers: number[] = [];
    for (let left = reader.uint32(); left > 0; left--) {
      numbers.push(reader.uint32(), reader.uint32());
    }
    return new PositionRuns(new Uint32Array(numbers));
  }
}

/** Iterates over the positions, from the first one on. */
export class PositionCursor {
  readonly #runs: PositionRuns;
  #run = 0;
  /** Positions of the current run that were passed. */
  #passed = 0;

  constructor(runs: PositionRuns) {
    this.#runs = runs;
  }

  /** Passes the next position and returns it; undefined after the last one. */
  next(): number | undefined {
    if (this.#run >= this.#runs.length) {
      return undefined;
    }
    const position = this.#runs.positionOf(this.#run) + this.#passed++;
    if (this.#passed === this.#runs.countOf(this.#run)) {
      this.#run++;
      this.#passed = 0;
    }
    return position;
  }
}
