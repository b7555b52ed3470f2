/**
 * A state that is being received as a snapshot, in a separate store. For the state thread: it writes synchronously.
 *
 * The progress row is written last, in a synced batch that makes everything before it durable. Until then the store
 * reads as if nothing was ever applied to it, whatever a crash leaves behind.
 */

import { compareBytes } from "../../bytes/index.ts";
import { invariant } from "../../primitives/index.ts";
import { type Change, PROGRESS_ROW, readProgress } from "../../state/index.ts";
import type { Rocks } from "../rocks/index.ts";
import { LOCAL_ROWS_FROM, SNAPSHOT_ORIGIN_ROW } from "./local-rows.ts";
import { SequenceMarkers } from "./sequence-markers.ts";
import { encodeSnapshotOrigin, type SnapshotOrigin } from "./snapshot-origin.ts";

/** Rows are synced after this many bytes, so that the disk gets small portions and other writers need not wait. */
const SYNC_BYTES = 8 * 1024 * 1024;

export class IncomingState {
  readonly rocks: Rocks;
  #unsyncedBytes = 0;
  readonly #markers: SequenceMarkers;
  #progress: Uint8Array | null = null;

  /** The store must be empty. */
  constructor(rocks: Rocks) {
    this.rocks = rocks;
    this.#markers = SequenceMarkers.read(rocks);
  }

  /** Adds rows of the replicated state; they may not be durable yet. Raises a StoreError. */
  write(rows: readonly Change[]): void {
    const changes: Change[] = [];
    for (const change of rows) {
      invariant(compareBytes(change.key, LOCAL_ROWS_FROM) < 0, "a snapshot holds rows of the replicated state alone");
      invariant(change.value !== null, "a snapshot deletes nothing");
      if (compareBytes(change.key, PROGRESS_ROW) === 0) {
        // Copy the row: it is a view into the whole chunk.
        this.#progress = change.value.slice();
      } else {
        changes.push(change);
        this.#unsyncedBytes += change.key.length + change.value.length;
      }
    }
    const isSyncDue = this.#unsyncedBytes >= SYNC_BYTES;
    this.rocks.write(this.#markers.addMarkers(changes), isSyncDue);
    if (isSyncDue) {
      this.#unsyncedBytes = 0;
    }
  }

  /** The last applied entry according to the progress row; null until that row has arrived. */
  get last(): SnapshotOrigin | null {
    const value = this.#progress;
    if (value === null) {
      return null;
    }
    const { appliedIndex: index, appliedTerm: term } = readProgress({ get: () => value, scan: () => undefined });
    return { index, term };
  }

  /** Completes the state. Durable on return. Raises a StoreError. */
  finish(installed: SnapshotOrigin): void {
    invariant(this.#progress !== null, "a snapshot says how far it has come");
    const changes: Change[] = [
      { key: PROGRESS_ROW, value: this.#progress },
      { key: SNAPSHOT_ORIGIN_ROW, value: encodeSnapshotOrigin(installed) },
    ];
    this.rocks.write(this.#markers.addMarkers(changes), true);
    const { appliedIndex, appliedTerm } = readProgress(this.rocks);
    invariant(
      appliedIndex === installed.index && appliedTerm === installed.term,
      "a snapshot has come as far as it was announced",
      () => `entry ${installed.index} of term ${installed.term}, but it holds ${appliedIndex} of ${appliedTerm}`,
    );
  }
}
