/**
 * The state store of one member, as the driver sees it: the replicated rows, and the two ways to move all of them at
 * once. A view reads a consistent copy for another member; a replacement becomes the state of this member when it was
 * received whole. Whatever fails ends the process; no callback is made then.
 */

import type { Row, StateStore } from "../state/index.ts";

export interface MemberStateStore extends StateStore {
  /** Whether a batch now would block the event loop. */
  readonly isStalled: boolean;
  /**
   * Hands over to the disk what is kept in memory, unless that would block the event loop; returns whether nothing is
   * kept. `sync` and `openView` hand over too, and may block: ask here first.
   */
  flush(): boolean;
  /** All replicated rows as they are now, whatever is written later. */
  openView(): StateView;
  /**
   * Starts another state beside the live one, empty. `done` when rows may be written to it. Only one is under way at a
   * time: one that was started and not placed is abandoned, and no callback of it is called any more.
   */
  beginReplacement(done: (replacement: StateReplacement) => void): void;
  /**
   * Reads and writes go to the placed replacement from here on; the former state is deleted behind it. No view may be
   * open and no sync in flight.
   */
  switchTo(replacement: StateReplacement): void;
}

export interface StateView {
  /** The next rows by key, up to about so many bytes and at least one; none at the end. Bounded work for one turn. */
  read(maxBytes: number): readonly Row[];
  /** Lets go of the files that the view holds on to. */
  close(): void;
}

export interface StateReplacement {
  /**
   * Adds rows of the replicated state, each key once, not durable yet; `done` when the next ones may come. At most
   * about a MiB at a time.
   */
  write(rows: readonly Row[], done: () => void): void;
  /**
   * All rows are durable when `done`, marked as installed by a snapshot of the entry (index, term), which must be the
   * last one that they say was applied.
   */
  finish(index: number, term: number, done: () => void): void;
  /** Makes it, durably, the state that the next start opens. After this it can only be switched to. */
  place(done: () => void): void;
  /** Deletes what was written; not after `place`. No callback is called any more. */
  abandon(): void;
}
