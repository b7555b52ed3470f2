/**
 * Turns of work: it is done in slices, so that nothing that callers ask for holds the process longer than a slice and one
 * piece of work, and in turns, so that a caller with much work does not delay those with little.
 *
 * Work runs at once while the present slice has time and no other work waits. Else it waits behind the earlier work of
 * its caller. Callers take turns by the time that their work has used: in each round a caller may use `QUANTUM_MS`, and
 * one that has used more waits for the rounds that it owes.
 *
 * A slice may span several turns of the event loop, so that a callback at the end of each, which costs as much as some
 * work, is not needed. After a slice, work waits for the next turn of the event loop, unless the slice ended so long ago
 * that this turn is another one.
 */

import { LinkedQueue, Links } from "./linked-queue.ts";

/** Milliseconds of a slice; its last piece of work may end later. */
const SLICE_MS = 4;
/** Milliseconds after the end of a slice in which work waits for the next turn of the event loop. */
const PAUSE_MS = 4;
/** Milliseconds that a caller may use in each round. */
const QUANTUM_MS = 1;

class WaitingWork {
  readonly links = new Links<WaitingWork>();
  readonly run: () => void;

  constructor(run: () => void) {
    this.run = run;
  }
}

/** The work of a caller that waits. */
class Line {
  readonly links = new Links<Line>();
  readonly caller: unknown;
  readonly works = new LinkedQueue<WaitingWork>();
  /** Milliseconds that it may still use in this round; 0 or less = it has used them, and owes the rest. */
  creditMs = 0;

  constructor(caller: unknown) {
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

/** Of a process or of a thread: all that takes turns in one event loop should take the same. */
export class Turns {
  readonly #timing: TurnTiming;
  readonly #lines = new Map<unknown, Line>();
  /** In the order of their turns. */
  readonly #order = new LinkedQueue<Line>();
  readonly #continueLater = (): void => this.#continue();
  /** Whether `#continue` is called in a later turn of the event loop. */
  #isScheduled = false;
  #sliceEndMs = Number.NEGATIVE_INFINITY;
  #waiting = 0;

  constructor(timing: TurnTiming = REAL) {
    this.#timing = timing;
  }

  /** Number of pieces of work that wait for their turn. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether work may run at once. If so, the caller runs it now. */
  get isFree(): boolean {
    if (this.#waiting > 0) {
      return false;
    }
    const nowMs = this.#timing.nowMs();
    if (nowMs >= this.#sliceEndMs + PAUSE_MS) {
      this.#sliceEndMs = nowMs + SLICE_MS;
    }
    return nowMs < this.#sliceEndMs;
  }

  /** The time of the turns, in milliseconds. */
  get nowMs(): number {
    return this.#timing.nowMs();
  }

  /** When work that begins to run now should let others have their turn, if it can be divided. */
  endMs(nowMs: number): number {
    return Math.min(nowMs + QUANTUM_MS, this.#sliceEndMs);
  }

  /** Runs the work: at once if that is possible, else as `wait`. */
  run(caller: unknown, work: () => void): void {
    if (this.isFree) {
      work();
    } else {
      this.wait(caller, work);
    }
  }

  /**
   * Runs the work when it is its turn. It must not throw.
   *
   * @param caller whose line the work joins: the same name or the same object each time.
   */
  wait(caller: unknown, work: () => void): void {
    let line = this.#lines.get(caller);
    if (line === undefined) {
      line = new Line(caller);
      this.#lines.set(caller, line);
      this.#order.push(line);
    }
    line.works.push(new WaitingWork(work));
    this.#waiting++;
    this.#schedule();
  }

  #schedule(): void {
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      this.#timing.later(this.#continueLater);
    }
  }

  /** The next turn of the event loop. */
  #continue(): void {
    this.#isScheduled = false;
    const nowMs = this.#timing.nowMs();
    this.#sliceEndMs = nowMs + SLICE_MS;
    this.#runSlice(nowMs);
    if (this.#waiting > 0) {
      this.#schedule();
    }
  }

  #runSlice(beganMs: number): void {
    let nowMs = beganMs;
    for (let line = this.#order.first; line !== null && nowMs < this.#sliceEndMs; line = this.#order.first) {
      if (line.creditMs <= 0) {
        line.creditMs += QUANTUM_MS;
      }
      for (let work = line.works.first; work !== null; work = line.works.first) {
        if (line.creditMs <= 0 || nowMs >= this.#sliceEndMs) {
          break;
        }
        line.works.remove(work);
        this.#waiting--;
        work.run();
        const endMs = this.#timing.nowMs();
        line.creditMs -= endMs - nowMs;
        nowMs = endMs;
      }
      this.#pass(line);
    }
  }

  /** Lets the next caller have its turn if this one has no more work, or has used its time. */
  #pass(line: Line): void {
    if (line.works.first === null) {
      this.#order.remove(line);
      this.#lines.delete(line.caller);
    } else if (line.creditMs <= 0) {
      this.#order.remove(line);
      this.#order.push(line);
    }
  }
}

/** Those of everything that clients ask of this thread. */
export const turnsOfThisThread = new Turns();
