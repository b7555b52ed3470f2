/**
 * The driver's interface to the state store of one member: the replicated rows, and two ways to move all of them at
 * once. A view reads a consistent copy for another member. A replacement becomes the state of this member once it has
 * arrived completely. Any failure ends the process; no callback is called then.
 */

import type { Row, StateStore } from "../../state/index.ts";

export interface MemberStateStore extends StateStore {
  /** Whether writing a batch now would block the event loop. */
  readonly isStalled: boolean;
  /**
   * Writes the changes that are kept in memory to the store, unless that would block the event loop. Returns whether
   * none is left in memory. `sync` and `openView` write them too, and may block: call `flush` first.
   */
  flush(): boolean;
  /** A consistent view of all replicated rows as they are now. */
  openView(): StateView;
  /**
   * Creates another, empty state beside the live one, and calls `done` when rows may be written to it. There is only
   * one at a time: this abandons an earlier one that was not placed, and no callback of it is called any more.
   */
  beginReplacement(done: (replacement: StateReplacement) => void): void;
  /**
   * Directs reads and writes to the placed replacement from now on, and deletes the old state in the background. No
   * view may be open and no sync in flight.
   */
  switchTo(replacement: StateReplacement): void;
}

export interface StateView {
  /**
   * The next rows in key order, about `maxBytes` together and at least one; none at the end. Bounded work for one turn.
   */
  read(maxBytes: number): readonly Row[];
  /** Releases the files that the view keeps. */
  close(): void;
}

export interface StateReplacement {
  /**
   * Adds rows of the replicated state, each key once, not durable yet. Calls `done` when it is ready for the next ones.
   * At most about 1 MiB at a time.
   */
  write(rows: readonly Row[], done: () => void): void;
  /**
   * Makes all rows durable, marked as installed by a snapshot of the entry (index, term), and then calls `done`. The
   * entry must be the last applied one according to the rows.
   */
  finish(index: number, term: number, done: () => void): void;
  /** Makes it durably the state that the next start opens. After this only `switchTo` is allowed. */
  place(done: () => void): void;
  /** Deletes the written rows; not allowed after `place`. No callback is called any more. */
  abandon(): void;
}
