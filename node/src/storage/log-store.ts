/**
 * The store of the Raft log, as the driver sees it.
 *
 * Writes are asynchronous, in order, one at a time, and durable when `done` is called; reads are synchronous. A failed
 * write never calls `done`: the process ends.
 */

import type { AppendEffect, LogReader } from "../raft/index.ts";

export interface LogStore extends LogReader {
  /** Writes the hard state and rows of one append; `done` when they and the fence are durable, with the time it took. */
  write(append: AppendEffect, done: (writeSeq: number, durationMs: number) => void): void;
  /** Drops entries below `first` with the next write; `prevTerm` is the term of the entry before it. */
  compact(first: number, prevTerm: number): void;
  /**
   * What this member had lost is back: takes the mark of damage from it, durably when `done`, after every write handed
   * over before. Only of a damaged member, once.
   */
  heal(done: () => void): void;
  /**
   * Tells whether the configuration that this member has applied has it as the only voter, so that nobody else has its
   * data. Recorded durably, after every write handed over before; nobody waits for it.
   */
  setSole(isSole: boolean): void;
}
