/**
 * The turns of reads: the work for answers is done in slices, so that nothing that callers ask for holds the process
 * longer than a slice and one read, and in turns, so that a caller with much work does not delay those with little.
 *
 * A read runs at once while the present turn of the event loop has time and no other read waits. Else it waits behind
 * the earlier reads of its caller. Callers take turns by the time that their reads have used: in each round a caller
 * may use `QUANTUM_MS`, and one that has used more waits for the rounds that it owes.
 */

import { LinkedQueue, Links } from "../../collections/index.ts";

/** Milliseconds of reads in one turn of the event loop; the last one may end later. */
const SLICE_MS = 4;
/** Milliseconds that a caller may use in each round. */
const QUANTUM_MS = 1;

class WaitingRead {
  readonly links = new Links<WaitingRead>();
  readonly run: () => void;

  constructor(run: () => void) {
    this.run = run;
  }
}

/** The reads of a caller that wait. */
class Line {
  readonly links = new Links<Line>();
  readonly caller: string;
  readonly reads = new LinkedQueue<WaitingRead>();
  /** Milliseconds that it may still use in this round; 0 or less = it has used them, and owes the rest. */
  creditMs = 0;

  constructor(caller: string) {
    this.caller = caller;
  }
}

/** The time and the event loop. */
export interface TurnTiming {
  readonly nowMs: () => number;
  /** Calls back in a later turn of the event loop. */
  readonly later: (callback: () => void) => void;
}

const REAL: TurnTiming = { nowMs: () => performance.now(), later: (callback) => void setImmediate(callback) };

export class ReadTurns {
  readonly #timing: TurnTiming;
  readonly #lines = new Map<string, Line>();
  /** In the order of their turns. */
  readonly #order = new LinkedQueue<Line>();
  #isInTurn = false;
  #sliceEndMs = 0;
  #waiting = 0;

  constructor(timing: TurnTiming = REAL) {
    this.#timing = timing;
  }

  /** Number of reads that wait for their turn. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether a read may run at once. If so, the caller runs it now. */
  get isFree(): boolean {
    if (this.#waiting > 0) {
      return false;
    }
    const nowMs = this.#timing.nowMs();
    if (!this.#isInTurn) {
      this.#begin(nowMs);
      return true;
    }
    return nowMs < this.#sliceEndMs;
  }

  /** Runs the read when it is its turn. It must not throw. */
  wait(caller: string, read: () => void): void {
    let line = this.#lines.get(caller);
    if (line === undefined) {
      line = new Line(caller);
      this.#lines.set(caller, line);
      this.#order.push(line);
    }
    line.reads.push(new WaitingRead(read));
    this.#waiting++;
    if (!this.#isInTurn) {
      this.#begin(this.#timing.nowMs());
    }
  }

  #begin(nowMs: number): void {
    this.#isInTurn = true;
    this.#sliceEndMs = nowMs + SLICE_MS;
    this.#timing.later(() => this.#continue());
  }

  /** The next turn of the event loop. */
  #continue(): void {
    this.#isInTurn = false;
    if (this.#waiting > 0) {
      this.#begin(this.#timing.nowMs());
      this.#runSlice();
    }
  }

  #runSlice(): void {
    let nowMs = this.#timing.nowMs();
    for (let line = this.#order.first; line !== null && nowMs < this.#sliceEndMs; line = this.#order.first) {
      if (line.creditMs <= 0) {
        line.creditMs += QUANTUM_MS;
      }
      for (let read = line.reads.first; read !== null; read = line.reads.first) {
        if (line.creditMs <= 0 || nowMs >= this.#sliceEndMs) {
          break;
        }
        line.reads.remove(read);
        this.#waiting--;
        read.run();
        const endMs = this.#timing.nowMs();
        line.creditMs -= endMs - nowMs;
        nowMs = endMs;
      }
      this.#pass(line);
    }
  }

  /** Lets the next caller have its turn if this one has no more reads, or has used its time. */
  #pass(line: Line): void {
    if (line.reads.first === null) {
      this.#order.remove(line);
      this.#lines.delete(line.caller);
    } else if (line.creditMs <= 0) {
      this.#order.remove(line);
      this.#order.push(line);
    }
  }
}

export const turnsOfThisThread = new ReadTurns();
