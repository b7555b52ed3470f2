/**
 * The driver's interface to the store of the Raft log.
 *
 * Writes are asynchronous, ordered, one at a time, and durable when `done` is called; reads are synchronous. A failed
 * write never calls `done`: the process ends.
 */

import type { AppendEffect, LogReader } from "../../raft/index.ts";

export interface LogStore extends LogReader {
  /**
   * Writes the hard state and rows of one append. Calls `done`, with the duration, when they are durable and the mirror
   * is written.
   */
  write(append: AppendEffect, done: (writeSeq: number, durationMs: number) => void): void;
  /** Drops entries below `first` with the next write; `prevTerm` is the term of the entry before it. */
  compact(first: number, prevTerm: number): void;
  /**
   * The lost data of this member is back: removes the mark of damage, after all earlier writes. Durable when `done` is
   * called. Only for a damaged member, once.
   */
  clearDamage(done: () => void): void;
  /**
   * Records whether the applied configuration has this member as the only voter, so that no other member has its data.
   * It becomes durable after all earlier writes; there is no callback.
   */
  setSoleVoter(isSole: boolean): void;
}
