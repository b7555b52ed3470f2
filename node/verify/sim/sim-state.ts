/**
 * The state store of one simulated process. Batches take effect at once, everything else after some time.
 *
 * Views are copies. A state that is being received is lost with its process, unless it has taken the place of the
 * other.
 */

import { invariant } from "../../src/primitives/index.ts";
import { type Change, droppedGenerations, type KeyRange, type Row, readProgress } from "../../src/state/index.ts";
import type { MemberStateStore, StateReplacement, StateView } from "../../src/storage/index.ts";
import { MemoryStateReplacement, viewOf } from "../../test/index.ts";
import type { Disk } from "./disk.ts";
import type { EventHeap } from "./event-heap.ts";
import { die, type ProcessLoop, passPoint } from "./process-loop.ts";
import type { RandomStream } from "./random.ts";
import { fingerprintOf, StateRows } from "./state-rows.ts";

export interface SimStateOptions {
  readonly disk: Disk;
  readonly heap: EventHeap;
  readonly loop: ProcessLoop;
  readonly random: RandomStream;
  /** Mean duration of a sync or of a step of a replacement, in milliseconds. */
  readonly stepMs: () => number;
  /** The disk does nothing until this time. */
  readonly stalledUntilMs: () => number;
  /** A state is read for another member, or was received completely. */
  readonly onSnapshot: (index: number, sum: number) => void;
  /** A received state, applied up to this index, is where a start would open it. */
  readonly onPlaced: (index: number) => void;
  readonly onSwitched: () => void;
  /** Whether the next operation fails. */
  readonly takeFailure: () => boolean;
  /** A sync has failed. */
  readonly onFailed: () => void;
}

export class SimState implements MemberStateStore {
  readonly #options: SimStateOptions;
  #isSyncing = false;
  #openViews = 0;
  #replacement: MemoryStateReplacement<StateRows> | null = null;

  constructor(options: SimStateOptions) {
    this.#options = options;
    // As the real store does: a crash may have come between a batch and the deletions that belong to it.
    this.#live.write([], [droppedGenerations(this.#live)]);
  }

  get #live(): StateRows {
    return this.#options.disk.state;
  }

  get isStalled(): boolean {
    return this.#options.stalledUntilMs() > this.#options.heap.nowMs;
  }

  flush(): boolean {
    return true;
  }

  /** Whether a received state has taken its place, so that the log may begin behind that one. */
  get isPlaced(): boolean {
    return this.#options.disk.placed !== null;
  }

  get rowsRead(): number {
    return this.#live.rowsRead;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#live.get(key);
  }

  scan(from: Uint8Array, to: Uint8Array, visit: (row: Row) => boolean): void {
    this.#live.scan(from, to, visit);
  }

  write(changes: readonly Change[], dropped: readonly KeyRange[] = []): void {
    invariant(!this.#isSyncing, "no batch is written during a sync");
    invariant(!this.isStalled, "no batch is written while the store is stalled");
    invariant(!this.isPlaced, "no batch is written to a state that is being replaced");
    passPoint();
    if (this.#options.takeFailure()) {
      die();
    }
    this.#live.write(changes);
    passPoint();
    if (dropped.length > 0) {
      this.#live.write([], dropped);
      passPoint();
    }
  }

  sync(done: () => void): void {
    invariant(!this.#isSyncing, "one state sync is in flight at a time");
    passPoint();
    this.#isSyncing = true;
    const live = this.#live;
    const { disk, random, takeFailure, onFailed } = this.#options;
    this.#step(
      () => {
        if (takeFailure()) {
          onFailed();
          disk.failSync(random.next());
        } else {
          live.markSynced();
        }
      },
      () => {
        this.#isSyncing = false;
        done();
      },
    );
  }

  openView(): StateView {
    passPoint();
    const all = this.#live.all();
    this.#options.onSnapshot(readProgress(this.#live).appliedIndex, fingerprintOf(all));
    this.#openViews++;
    return viewOf(all, () => {
      this.#openViews--;
    });
  }

  beginReplacement(done: (replacement: StateReplacement) => void): void {
    this.#replacement?.abandon();
    const { disk, onSnapshot, onPlaced } = this.#options;
    const rows = new StateRows();
    let isBusy = false;
    const step = (action: () => void, stepDone: () => void): void => {
      passPoint();
      invariant(!isBusy, "one step of a replacement is in flight at a time");
      isBusy = true;
      const unlessAbandoned = (then: () => void) => (replacement.isAbandoned ? undefined : then());
      this.#step(
        () => unlessAbandoned(action),
        () => {
          isBusy = false;
          unlessAbandoned(stepDone);
        },
      );
    };
    const replacement = new MemoryStateReplacement(rows, {
      step,
      onInstalled: (index, term) => {
        rows.installed = { index, term };
        rows.markSynced();
        onSnapshot(index, rows.fingerprint().sum);
      },
      onPlaced: () => {
        disk.placed = rows;
        onPlaced(readProgress(rows).appliedIndex);
      },
    });
    this.#replacement = replacement;
    step(
      () => undefined,
      () => done(replacement),
    );
  }

  switchTo(replacement: StateReplacement): void {
    passPoint();
    const { disk, onSwitched } = this.#options;
    invariant(this.#replacement === replacement && disk.placed !== null, "the placed replacement is switched to");
    invariant(this.#openViews === 0, "no view of the former state is open");
    invariant(!this.#isSyncing, "no sync of the former state is in flight");
    disk.state = disk.placed;
    disk.placed = null;
    this.#replacement = null;
    onSwitched();
  }

  /** A step of the state thread; the process hears of it if it is still alive. */
  #step(action: () => void, done: () => void): void {
    const { heap, loop, random, stepMs, stalledUntilMs } = this.#options;
    heap.at(Math.max(heap.nowMs, stalledUntilMs()) + random.exponential(stepMs()), () => {
      if (!loop.isDead) {
        action();
        loop.arrive(done);
      }
    });
  }
}
