/**
 * A snapshot between two members in memory: the write of a frame is complete when the other side has read it.
 *
 * The spec may hold it, break it, or change what is read.
 */

import type { Frame } from "../../src/peers/index.ts";
import { invariant } from "../../src/primitives/index.ts";
import type { IncomingSnapshot, OutgoingSnapshot, Scheduler } from "../../src/replica/index.ts";

type WriteDone = (error: Error | null) => void;
type ReadDone = (error: Error | null, frame: Frame | null) => void;

export class MemorySnapshot {
  readonly from: number;
  readonly to: number;
  readonly #scheduler: Scheduler;
  /** The offer to the reader: a frame, or the end. */
  #written: { readonly frame: Frame | null; readonly done: WriteDone } | null = null;
  #reading: ReadDone | null = null;
  #broken: Error | null = null;
  /** Whether the sender has given it up, or the receiver closed it. */
  isAborted = false;
  isClosed = false;
  /** Whether frames wait for `release`. */
  #isHeld: boolean;
  /** Frames that were read, the oldest first. */
  readonly read: Frame[] = [];
  /** Replaces the frame that is about to be read. */
  onRead: (frame: Frame) => Frame = (frame) => frame;

  constructor(scheduler: Scheduler, from = 1, to = 2, isHeld = false) {
    this.#scheduler = scheduler;
    this.from = from;
    this.to = to;
    this.#isHeld = isHeld;
  }

  readonly outgoing: OutgoingSnapshot = {
    write: (type, body, done) => this.#write({ type, body }, done),
    end: (done) => this.#write(null, done),
    abort: () => {
      this.isAborted = true;
      this.break(new Error("the sender has given up"));
    },
  };

  readonly incoming: IncomingSnapshot = {
    read: (done) => {
      invariant(this.#reading === null, "one read at a time");
      this.#reading = done;
      this.#pass();
    },
    close: () => {
      this.isClosed = true;
      this.break(new Error("the receiver has closed"));
    },
  };

  /** Lets frames through again. */
  release(): void {
    this.#isHeld = false;
    this.#pass();
  }

  /** Lets frames wait from now on. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Every later call of either side fails, unless that side has finished with it. */
  break(error: Error): void {
    this.#broken ??= error;
    this.#pass();
  }

  #write(frame: Frame | null, done: WriteDone): void {
    invariant(this.#written === null, "one write at a time");
    this.#written = { frame, done };
    this.#pass();
  }

  #pass(): void {
    this.#scheduler.immediate(() => {
      if (this.#broken !== null) {
        this.#fail(this.#broken);
      } else if (!this.#isHeld && this.#written !== null && this.#reading !== null) {
        this.#move(this.#written.frame, this.#written.done, this.#reading);
      }
    });
  }

  #fail(error: Error): void {
    const [written, reading] = [this.#written, this.#reading];
    this.#written = null;
    this.#reading = null;
    if (written !== null && !this.isAborted) {
      written.done(error);
    }
    if (reading !== null && !this.isClosed) {
      reading(error, null);
    }
  }

  #move(frame: Frame | null, written: WriteDone, reading: ReadDone): void {
    this.#written = null;
    this.#reading = null;
    const moved = frame === null ? null : this.onRead(frame);
    if (moved !== null) {
      this.read.push(moved);
    }
    written(null);
    reading(null, moved);
  }
}
