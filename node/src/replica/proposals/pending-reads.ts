/**
 * Pending linearizable reads: the core confirms them at an index, and they are served once that index is applied.
 *
 * Reads that arrive while there is no leader wait for a bounded time. A read waits until its index is applied, not only
 * committed (P11).
 */

import { CoordinationError } from "../../state/index.ts";
import type { RequestTrace } from "../../tracing/index.ts";
import { leaderWaitUntil } from "./waiters.ts";

export type ReadDone = (error: CoordinationError | null) => void;

interface PendingRead {
  readonly deadlineMs: number;
  readonly waitUntilMs: number;
  readonly done: ReadDone;
  /** Null = its request has none. */
  readonly trace: RequestTrace | null;
}

interface Batch {
  /** Position that the core gave for these reads. */
  readonly position: number;
  /** Index that must be applied first; null until confirmed. */
  index: number | null;
  /** When they were confirmed. */
  confirmedMs: number;
  reads: PendingRead[];
}

export class PendingReads {
  #unrequested: PendingRead[] = [];
  /** In the order of their positions. */
  #batches: Batch[] = [];
  #size = 0;

  /** All waiting reads. */
  get size(): number {
    return this.#size;
  }

  get hasUnrequested(): boolean {
    return this.#unrequested.length > 0;
  }

  add(nowMs: number, deadlineMs: number, done: ReadDone, trace: RequestTrace | null = null): void {
    this.#unrequested.push({ deadlineMs, waitUntilMs: leaderWaitUntil(nowMs, deadlineMs), done, trace });
    this.#size++;
    if (trace !== null) {
      trace.barrierMs = nowMs;
    }
  }

  /** The core has given this position to all reads that had none. */
  requested(position: number): void {
    this.#batches.push({ position, index: null, confirmedMs: 0, reads: this.#unrequested });
    this.#unrequested = [];
  }

  /** Positions up to this one are confirmed at the index. `nowMs` is only for traces. */
  confirmed(position: number, index: number, nowMs = 0): void {
    for (const batch of this.#batches) {
      if (batch.position <= position && batch.index === null) {
        batch.index = index;
        batch.confirmedMs = nowMs;
      }
    }
  }

  /** Positions up to this one will never be confirmed: their reads need a new position (P9). */
  failed(position: number): void {
    const kept: Batch[] = [];
    for (const batch of this.#batches) {
      if (batch.position <= position && batch.index === null) {
        this.#unrequested.push(...batch.reads);
      } else {
        kept.push(batch);
      }
    }
    this.#batches = kept;
  }

  /** Answers the confirmed reads whose index is applied. `nowMs` is only for traces. */
  serve(appliedIndex: number, nowMs = 0): void {
    while (this.#batches.length > 0) {
      const batch = this.#batches[0] as Batch;
      if (batch.index === null || batch.index > appliedIndex) {
        return;
      }
      this.#batches.shift();
      for (const read of batch.reads) {
        this.#size--;
        if (read.trace !== null) {
          read.trace.confirmedMs = batch.confirmedMs;
          read.trace.readableMs = nowMs;
        }
        read.done(null);
      }
    }
  }

  /**
   * Refuses reads that have waited too long. A read with a position is refused at its deadline. A read without one is
   * refused, with `waitReason`, if it may not wait until `nextMs`, when this is called again.
   */
  expire(nowMs: number, nextMs: number, waitReason: () => CoordinationError): void {
    this.#unrequested = this.#refuseEnded(this.#unrequested, (read) => read.waitUntilMs < nextMs, waitReason);
    for (const batch of this.#batches) {
      batch.reads = this.#refuseEnded(batch.reads, (read) => read.deadlineMs <= nowMs, readDeadlineError);
    }
  }

  refuseAll(error: CoordinationError): void {
    this.#unrequested = this.#refuseEnded(
      this.#unrequested,
      () => true,
      () => error,
    );
    for (const batch of this.#batches) {
      batch.reads = this.#refuseEnded(
        batch.reads,
        () => true,
        () => error,
      );
    }
    this.#batches = [];
  }

  #refuseEnded(
    reads: PendingRead[],
    hasEnded: (read: PendingRead) => boolean,
    error: () => CoordinationError,
  ): PendingRead[] {
    const ended = reads.filter(hasEnded);
    if (ended.length === 0) {
      return reads;
    }
    for (const read of ended) {
      this.#size--;
      read.done(error());
    }
    return reads.filter((read) => !hasEnded(read));
  }
}

/** The contract calls every missed deadline unknown; a read has changed nothing all the same. */
function readDeadlineError(): CoordinationError {
  return new CoordinationError("DEADLINE", "the deadline ended before the read could be answered; ask again", {
    outcome: "unknown",
  });
}
