/**
 * Linearizable reads on their way: asked of the core, confirmed at an index, served once that index is applied.
 *
 * Reads that arrive without a leader are held for a bounded time. Applied is waited for, not committed (P11).
 *
 * Many reads can become ready at once, and an answer can take long to make. So reads are served in slices, each in a turn
 * of its own: between two slices the member hears its peers and sends its heartbeats. A read that is served later sees a
 * state that is at least as new.
 */

import { mark } from "../raft/index.ts";
import { CoordinationError } from "../state/index.ts";
import { holdUntil } from "./waiters.ts";

export type ReadDone = (error: CoordinationError | null) => void;

export interface ReadLimits {
  /** Bounds of one slice of reads: their number, and the milliseconds after which no other read is begun. */
  readonly sliceReads: number;
  readonly sliceReadsMs: number;
}

interface PendingRead {
  readonly deadlineMs: number;
  readonly holdUntilMs: number;
  readonly done: ReadDone;
}

interface Batch {
  /** Position that the core gave for these reads. */
  readonly position: number;
  /** Index that must be applied first; null until confirmed. */
  index: number | null;
  reads: PendingRead[];
  /** How many of `reads`, from the first on, were answered. */
  served: number;
}

export class PendingReads {
  readonly #limits: ReadLimits;
  readonly #monotonicMs: () => number;
  #unasked: PendingRead[] = [];
  /** In the order of their positions. */
  #batches: Batch[] = [];
  #size = 0;

  constructor(limits: ReadLimits, monotonicMs: () => number) {
    this.#limits = limits;
    this.#monotonicMs = monotonicMs;
  }

  /** Reads that wait in whatever state. */
  get size(): number {
    return this.#size;
  }

  get hasUnasked(): boolean {
    return this.#unasked.length > 0;
  }

  add(nowMs: number, deadlineMs: number, done: ReadDone): void {
    this.#unasked.push({ deadlineMs, holdUntilMs: holdUntil(nowMs, deadlineMs), done });
    this.#size++;
  }

  /** All reads that were not asked yet wait for this position now. */
  asked(position: number): void {
    this.#batches.push({ position, index: null, reads: this.#unasked, served: 0 });
    this.#unasked = [];
  }

  /** Positions up to this one are confirmed at the index. */
  confirmed(position: number, index: number): void {
    for (const batch of this.#batches) {
      if (batch.position <= position && batch.index === null) {
        batch.index = index;
      }
    }
  }

  /** Positions up to this one will never be confirmed: their reads are asked again, under a new position (P9). */
  lost(position: number): void {
    const kept: Batch[] = [];
    for (const batch of this.#batches) {
      if (batch.position <= position && batch.index === null) {
        this.#unasked.push(...batch.reads);
      } else {
        kept.push(batch);
      }
    }
    this.#batches = kept;
  }

  /** Answers a slice of the confirmed reads whose index is applied. Returns whether more of them are left. */
  serve(appliedIndex: number): boolean {
    let batch = this.#firstReady(appliedIndex);
    if (batch === null) {
      return false;
    }
    const { sliceReads, sliceReadsMs } = this.#limits;
    const endMs = this.#monotonicMs() + sliceReadsMs;
    for (let count = 1; batch !== null; count++) {
      const read = batch.reads[batch.served] as PendingRead;
      batch.served++;
      this.#size--;
      read.done(null);
      batch = this.#firstReady(appliedIndex);
      if (batch !== null && (count >= sliceReads || this.#monotonicMs() >= endMs)) {
        mark("replica.reads-paused");
        return true;
      }
    }
    return false;
  }

  /**
   * Refuses reads that have waited too long: those that were asked at their deadline, and those that are held, with the
   * reason, if they may not be held until `nextMs`, when this is called again.
   */
  expire(nowMs: number, nextMs: number, heldReason: () => CoordinationError): void {
    this.#unasked = this.#keep(this.#unasked, (read) => read.holdUntilMs < nextMs, heldReason);
    for (const batch of this.#batches) {
      batch.reads = this.#keep(unserved(batch), (read) => read.deadlineMs <= nowMs, readDeadlineError);
      batch.served = 0;
    }
  }

  refuseAll(error: CoordinationError): void {
    this.#unasked = this.#keep(
      this.#unasked,
      () => true,
      () => error,
    );
    for (const batch of this.#batches) {
      this.#keep(
        unserved(batch),
        () => true,
        () => error,
      );
    }
    this.#batches = [];
  }

  /** The first batch that has reads to serve, null if there is none; batches that were served are dropped. */
  #firstReady(appliedIndex: number): Batch | null {
    for (;;) {
      const batch = this.#batches[0];
      if (batch === undefined || batch.index === null || batch.index > appliedIndex) {
        return null;
      }
      if (batch.served < batch.reads.length) {
        return batch;
      }
      this.#batches.shift();
    }
  }

  #keep(reads: PendingRead[], isOver: (read: PendingRead) => boolean, error: () => CoordinationError): PendingRead[] {
    const over = reads.filter(isOver);
    if (over.length === 0) {
      return reads;
    }
    for (const read of over) {
      this.#size--;
      read.done(error());
    }
    return reads.filter((read) => !isOver(read));
  }
}

function unserved({ reads, served }: Batch): PendingRead[] {
  return served === 0 ? reads : reads.slice(served);
}

/** The contract calls every missed deadline unknown; a read has changed nothing all the same. */
function readDeadlineError(): CoordinationError {
  return new CoordinationError("DEADLINE", "the deadline ended before the read could be answered; ask again", {
    outcome: "unknown",
  });
}
