/**
 * The state store of one simulated process. Batches take effect at once, everything else after some time.
 *
 * Views are copies. A state that is being received is lost with its process, unless it has taken the place of the
 * other.
 */

import { compareBytes } from "../../src/bytes/index.ts";
import { invariant } from "../../src/primitives/index.ts";
import { type Change, droppedGenerations, type KeyRange, type Row, readProgress } from "../../src/state/index.ts";
import {
  LOCAL_ROWS_FROM,
  type MemberStateStore,
  type StateReplacement,
  type StateView,
} from "../../src/storage/index.ts";
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
  #replacement: SimReplacement | null = null;

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
    const rows = [...all].reverse();
    let isOpen = true;
    this.#openViews++;
    return {
      read: (maxBytes) => {
        invariant(isOpen, "a view is read before it is closed");
        return takeRows(rows, maxBytes);
      },
      close: () => {
        this.#openViews -= isOpen ? 1 : 0;
        isOpen = false;
      },
    };
  }

  beginReplacement(done: (replacement: StateReplacement) => void): void {
    passPoint();
    this.#replacement?.abandon();
    const replacement = new SimReplacement((action, stepDone) => this.#step(action, stepDone), this.#options);
    this.#replacement = replacement;
    replacement.step(
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

class SimReplacement implements StateReplacement {
  readonly #rows = new StateRows();
  readonly #request: (action: () => void, done: () => void) => void;
  readonly #options: SimStateOptions;
  #phase: "receiving" | "finished" | "placing" | "placed" | "abandoned" = "receiving";
  #isBusy = false;

  constructor(request: (action: () => void, done: () => void) => void, options: SimStateOptions) {
    this.#request = request;
    this.#options = options;
  }

  write(rows: readonly Row[], done: () => void): void {
    passPoint();
    invariant(this.#phase === "receiving", "rows are written before the state is finished", () => this.#phase);
    for (const { key } of rows) {
      invariant(compareBytes(key, LOCAL_ROWS_FROM) < 0, "a snapshot holds rows of the replicated state alone");
    }
    this.#rows.write(rows);
    this.step(() => undefined, done);
  }

  finish(index: number, term: number, done: () => void): void {
    passPoint();
    invariant(this.#phase === "receiving", "a state is finished once", () => this.#phase);
    this.#phase = "finished";
    this.step(() => {
      const { appliedIndex, appliedTerm } = readProgress(this.#rows);
      invariant(
        appliedIndex === index && appliedTerm === term,
        "a snapshot has come as far as it was announced",
        () => `entry ${index} of term ${term}, but it holds ${appliedIndex} of ${appliedTerm}`,
      );
      this.#rows.installed = { index, term };
      this.#rows.markSynced();
      this.#options.onSnapshot(index, this.#rows.fingerprint().sum);
    }, done);
  }

  place(done: () => void): void {
    passPoint();
    invariant(this.#phase === "finished", "a finished state is placed, once", () => this.#phase);
    this.#phase = "placing";
    this.step(() => {
      this.#phase = "placed";
      this.#options.disk.placed = this.#rows;
      this.#options.onPlaced(readProgress(this.#rows).appliedIndex);
    }, done);
  }

  abandon(): void {
    invariant(this.#phase !== "placing" && this.#phase !== "placed", "a state that was placed is not abandoned");
    this.#phase = "abandoned";
  }

  step(action: () => void, done: () => void): void {
    invariant(!this.#isBusy, "one step of a replacement is in flight at a time");
    this.#isBusy = true;
    this.#request(
      () => {
        if (this.#phase !== "abandoned") {
          action();
        }
      },
      () => {
        this.#isBusy = false;
        if (this.#phase !== "abandoned") {
          done();
        }
      },
    );
  }
}

/** Takes rows off the end: up to `maxBytes` together, or a single larger one. */
function takeRows(rows: Row[], maxBytes: number): Row[] {
  const taken: Row[] = [];
  let bytes = 0;
  for (let row = rows.pop(); row !== undefined; row = rows.pop()) {
    bytes += row.key.length + row.value.length;
    if (bytes > maxBytes && taken.length > 0) {
      rows.push(row);
      break;
    }
    taken.push(row);
  }
  return taken;
}
