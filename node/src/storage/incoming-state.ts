/**
 * A state that is being received as a snapshot, in a store of its own. For the state thread: it writes synchronously.
 *
 * The row that says how far the state has come is written last, with everything before it made durable: until then the
 * store says of itself that nothing was ever applied to it, whatever of it a crash leaves behind.
 */

import { compareBytes } from "../bytes/index.ts";
import { invariant } from "../raft/index.ts";
import { type Change, PROGRESS_ROW, readProgress } from "../state/index.ts";
import { encodeInstalled, type Installed } from "./installed.ts";
import { INSTALLED_ROW, LOCAL_ROWS_FROM } from "./local-rows.ts";
import { Milestones } from "./milestones.ts";
import type { Rocks } from "./rocks.ts";

/** Rows are made durable after so many bytes, so that the disk gets them in small portions and others need not wait. */
const SYNC_BYTES = 8 * 1024 * 1024;

export class IncomingState {
  readonly rocks: Rocks;
  #unsyncedBytes = 0;
  readonly #milestones: Milestones;
  #progress: Uint8Array | null = null;

  /** The store must be empty. */
  constructor(rocks: Rocks) {
    this.rocks = rocks;
    this.#milestones = Milestones.read(rocks);
  }

  /** Adds rows of the replicated state, not durable for certain yet. Raises a StoreError. */
  write(rows: readonly Change[]): void {
    const changes: Change[] = [];
    for (const change of rows) {
      invariant(compareBytes(change.key, LOCAL_ROWS_FROM) < 0, "a snapshot holds rows of the replicated state alone");
      invariant(change.value !== null, "a snapshot deletes nothing");
      if (compareBytes(change.key, PROGRESS_ROW) === 0) {
        // A copy: the row is a view into the whole piece.
        this.#progress = change.value.slice();
      } else {
        changes.push(change);
        this.#unsyncedBytes += change.key.length + change.value.length;
      }
    }
    const isSyncDue = this.#unsyncedBytes >= SYNC_BYTES;
    this.rocks.write(this.#milestones.mark(changes), isSyncDue);
    if (isSyncDue) {
      this.#unsyncedBytes = 0;
    }
  }

  /** The entry that the rows say was applied last; null while none of them says it. */
  get last(): Installed | null {
    const value = this.#progress;
    if (value === null) {
      return null;
    }
    const { appliedIndex: index, appliedTerm: term } = readProgress({ get: () => value, scan: () => undefined });
    return { index, term };
  }

  /** Completes the state and makes all of it durable; returns when it is. Raises a StoreError. */
  finish(installed: Installed): void {
    invariant(this.#progress !== null, "a snapshot says how far it has come");
    const changes: Change[] = [
      { key: PROGRESS_ROW, value: this.#progress },
      { key: INSTALLED_ROW, value: encodeInstalled(installed) },
    ];
    this.rocks.write(this.#milestones.mark(changes), true);
    const { appliedIndex, appliedTerm } = readProgress(this.rocks);
    invariant(
      appliedIndex === installed.index && appliedTerm === installed.term,
      "a snapshot has come as far as it was announced",
      () => `entry ${installed.index} of term ${installed.term}, but it holds ${appliedIndex} of ${appliedTerm}`,
    );
  }
}
