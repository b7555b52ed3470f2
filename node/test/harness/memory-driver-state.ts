/**
 * The state store of a driver, in memory. A spec can hold its syncs and the steps of a replacement, and can let it
 * report that it is stalled.
 *
 * Like the store on a disk, it refuses batches during a sync. A process crash loses only a replacement that was not
 * placed; the next start finds a placed one. A power cut would lose the writes since the last sync, which it counts.
 */

import { invariant } from "../../src/primitives/index.ts";
import type { Scheduler } from "../../src/replica/index.ts";
import type { Change, KeyRange } from "../../src/state/index.ts";
import type { MemberStateStore, StateReplacement, StateView } from "../../src/storage/index.ts";
import { MemoryStateReplacement, MemoryStateStore, viewOf } from "../index.ts";

export class MemoryDriverState extends MemoryStateStore implements MemberStateStore {
  readonly #scheduler: Scheduler;
  /** Whether a batch would block now. */
  isStalled = false;
  /** Whether syncs wait for `finishSync`. */
  isHeld = false;
  /** Whether the beginning and the steps of a replacement wait for `finishStep`. */
  isReplacementHeld = false;
  /** Numbers of batches and of requested syncs so far. */
  batches = 0;
  syncs = 0;
  #synced: (() => void) | null = null;
  #openViews = 0;
  #replacement: MemoryStateReplacement | null = null;
  /** The step of a replacement that is in flight. */
  #step: { readonly action: () => void; readonly done: () => void } | null = null;
  #installed: MemoryStateReplacement["installed"] = null;

  constructor(scheduler: Scheduler) {
    super();
    this.#scheduler = scheduler;
  }

  get isSyncing(): boolean {
    return this.#synced !== null;
  }

  /** Whether a step of a replacement is in flight. */
  get isReplacing(): boolean {
    return this.#step !== null;
  }

  flush(): boolean {
    return !this.isStalled;
  }

  get openViews(): number {
    return this.#openViews;
  }

  /** The snapshot that the state began as; null if it was none. */
  get installed(): { readonly index: number; readonly term: number } | null {
    return this.#installed;
  }

  override write(changes: readonly Change[], dropped: readonly KeyRange[] = []): void {
    invariant(this.#synced === null, "no batch is written during a sync");
    invariant(!this.isStalled, "no batch is written while the store is stalled");
    this.batches++;
    super.write(changes, dropped);
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

  openView(): StateView {
    this.#openViews++;
    return viewOf(this.copy(), () => {
      this.#openViews--;
    });
  }

  beginReplacement(done: (replacement: StateReplacement) => void): void {
    this.#replacement?.abandon();
    // A replacement that has not begun yet is abandoned too.
    this.#step = null;
    const replacement = new MemoryStateReplacement(new MemoryStateStore(), {
      step: (action, stepDone) => this.#startStep(action, stepDone),
      onAbandoned: () => {
        this.#replacement = null;
        this.#step = null;
      },
    });
    this.#replacement = replacement;
    this.#startStep(
      () => undefined,
      () => done(replacement),
    );
  }

  switchTo(replacement: StateReplacement): void {
    const next = this.#replacement;
    invariant(next !== null && next === replacement && next.isPlaced, "the placed replacement is switched to");
    invariant(this.#openViews === 0, "no view of the former state is open");
    invariant(this.#synced === null, "no sync of the former state is in flight");
    this.#adopt(next);
  }

  /** Lets the step of a replacement that is in flight be done, if there is one. */
  finishStep(): void {
    const step = this.#step;
    this.#step = null;
    step?.action();
    step?.done();
  }

  /** The process has ended. */
  crash(): void {
    this.#synced = null;
    this.#step = null;
    this.#openViews = 0;
    this.isHeld = false;
    this.isReplacementHeld = false;
    this.isStalled = false;
    if (this.#replacement?.isPlaced) {
      this.#adopt(this.#replacement);
    }
    this.#replacement = null;
  }

  #adopt(replacement: MemoryStateReplacement): void {
    this.become(replacement.rows);
    this.#installed = replacement.installed;
    this.#replacement = null;
  }

  #startStep(action: () => void, done: () => void): void {
    invariant(this.#step === null, "one step of a replacement is in flight at a time");
    const step = { action, done };
    this.#step = step;
    if (!this.isReplacementHeld) {
      this.#scheduler.immediate(() => {
        if (this.#step === step) {
          this.finishStep();
        }
      });
    }
  }
}
