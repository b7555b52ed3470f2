/**
 * The state store of a driver, in memory: its syncs can be held, and it can say that it is stalled.
 *
 * Like the one on a disk it refuses batches during a sync. A process crash takes nothing away from it; a power cut would
 * take what was written since the last sync, which it counts.
 */

import { invariant } from "../../src/raft/index.ts";
import type { DriverStateStore, Scheduler } from "../../src/replica/index.ts";
import type { Change } from "../../src/state/index.ts";
import { MemoryStateStore } from "../index.ts";

export class MemoryDriverState extends MemoryStateStore implements DriverStateStore {
  readonly #scheduler: Scheduler;
  /** Whether a batch now would block. */
  isStalled = false;
  /** Whether syncs wait for `finishSync`. */
  isHeld = false;
  /** Batches written, and syncs asked for, so far. */
  batches = 0;
  syncs = 0;
  #synced: (() => void) | null = null;

  constructor(scheduler: Scheduler) {
    super();
    this.#scheduler = scheduler;
  }

  get isSyncing(): boolean {
    return this.#synced !== null;
  }

  override write(changes: readonly Change[]): void {
    invariant(this.#synced === null, "no batch is written during a sync");
    invariant(!this.isStalled, "no batch is written while the store is stalled");
    this.batches++;
    super.write(changes);
  }

  override sync(done: () => void): void {
    invariant(this.#synced === null, "one state sync is in flight at a time");
    this.syncs++;
    this.#synced = done;
    if (!this.isHeld) {
      this.#scheduler.immediate(() => this.finishSync());
    }
  }

  /** Lets the sync in flight be done, if there is one. */
  finishSync(): void {
    const done = this.#synced;
    this.#synced = null;
    done?.();
  }

  /** The process that was syncing is no more. */
  crash(): void {
    this.#synced = null;
    this.isHeld = false;
    this.isStalled = false;
  }
}
