/**
 * Reads of the whole state for backups: consistent views, read in chunks at a limited rate.
 *
 * The export reads each chunk in a turn of its own, when its reader asks for it. All exports and all snapshots for
 * other members share one rate limit. A view keeps files on disk, so an export has a maximum duration. It ends early
 * when the state is replaced, and when the driver stops.
 */

import { type Cluster, type Progress, type Row, readCluster } from "../../state/index.ts";
import type { StateView } from "../../storage/index.ts";
import type { ReadAllowance, ReplicaContext, ReplicaLimits } from "../context/index.ts";

/** What this part shares with others. */
export type StateExportsContext = Pick<ReplicaContext, "state" | "clock" | "scheduler"> & {
  readonly limits: Pick<ReplicaLimits, "snapshots">;
};

/** The export ended before its last row. */
export class StateExportEnded extends Error {
  override readonly name = "StateExportEnded";
}

/** A turn that starts more than this many milliseconds late shows that the event loop is busy. */
const BUSY_MS = 2;

export class StateExports {
  readonly #context: StateExportsContext;
  readonly #allowance: ReadAllowance;
  readonly #open = new Set<StateExport>();

  /** Exports read as much as `allowance` allows. */
  constructor(context: StateExportsContext, allowance: ReadAllowance) {
    this.#context = context;
    this.#allowance = allowance;
  }

  /** Whether the maximum number of exports is open. */
  get isFull(): boolean {
    return this.#open.size >= this.#context.limits.snapshots.streamsMax;
  }

  /** Opens a view of the state, which is at `progress`. Null if it cannot be read now, or too many exports are open. */
  open(progress: Progress): StateExport | null {
    const { state, clock } = this.#context;
    const limits = this.#context.limits.snapshots;
    const cluster = readCluster(state);
    if (this.isFull || cluster === undefined || !state.flush()) {
      return null;
    }
    const opened = new StateExport({
      cluster,
      progress,
      view: state.openView(),
      chunkBytes: limits.chunkBytes,
      endsMs: clock.monotonicMs() + limits.streamMs,
      onAsked: (asking) => this.#onAsked(asking),
      onRead: (bytes) => this.#allowance.take(bytes),
      onClosed: (closed) => this.#open.delete(closed),
    });
    this.#open.add(opened);
    return opened;
  }

  /** Called at every tick: continues waiting readers, and ends exports that take too long. */
  onTick(nowMs: number): void {
    this.#allowance.grow(nowMs);
    for (const one of this.#open) {
      if (nowMs > one.endsMs) {
        one.end("it took too long: the store, or the client, takes the backup too slowly");
      } else if (this.#allowance.isOpen) {
        one.read();
      }
    }
  }

  /** Ends all exports, because their state is replaced or the driver stops. */
  abort(reason: string): void {
    for (const one of this.#open) {
      one.end(reason);
    }
  }

  #onAsked(asking: StateExport): void {
    const { clock, scheduler } = this.#context;
    if (!this.#allowance.isOpen) {
      return;
    }
    // A turn of its own, after the sockets were polled: reading a chunk takes milliseconds (S44).
    const askedMs = clock.monotonicMs();
    scheduler.immediate(() => {
      // If the event loop is busy, clients come first, and the export continues at the next tick.
      if (clock.monotonicMs() - askedMs <= BUSY_MS) {
        asking.read();
      }
    });
  }
}

interface StateExportOptions {
  readonly cluster: Cluster;
  readonly progress: Progress;
  readonly view: StateView;
  readonly chunkBytes: number;
  readonly endsMs: number;
  readonly onAsked: (asking: StateExport) => void;
  readonly onRead: (bytes: number) => void;
  readonly onClosed: (closed: StateExport) => void;
}

interface Reader {
  readonly resolve: (rows: readonly Row[]) => void;
  readonly reject: (error: Error) => void;
}

/** One view of the state. The caller must close it, also after it has ended. */
export class StateExport {
  readonly #options: StateExportOptions;
  #reader: Reader | null = null;
  #ended: StateExportEnded | null = null;
  #isClosed = false;

  constructor(options: StateExportOptions) {
    this.#options = options;
  }

  /** The progress of the state that it reads. */
  get progress(): Progress {
    return this.#options.progress;
  }

  /** The cluster as it is in that state. */
  get cluster(): Cluster {
    return this.#options.cluster;
  }

  /** When it ends at the latest, in milliseconds of the monotonic clock. */
  get endsMs(): number {
    return this.#options.endsMs;
  }

  /**
   * All rows in key order, in chunks. Closes the view at the end. Raises a StateExportEnded if the export ends early.
   */
  async *rows(): AsyncGenerator<readonly Row[], void, undefined> {
    try {
      for (;;) {
        const rows = await this.#next();
        if (rows.length === 0) {
          return;
        }
        yield rows;
      }
    } finally {
      this.close();
    }
  }

  /** Reads a chunk now, if a reader waits for one. */
  read(): void {
    const reader = this.#reader;
    if (reader === null || this.#isClosed) {
      return;
    }
    this.#reader = null;
    const { view, chunkBytes, onRead } = this.#options;
    const rows = view.read(chunkBytes);
    onRead(rows.reduce((bytes, { key, value }) => bytes + key.length + value.length, 0));
    reader.resolve(rows);
  }

  /** Ends the export early. */
  end(reason: string): void {
    this.#ended ??= new StateExportEnded(reason);
    this.close();
  }

  /** Releases the view. */
  close(): void {
    if (this.#isClosed) {
      return;
    }
    this.#isClosed = true;
    this.#ended ??= new StateExportEnded("it was closed");
    this.#options.view.close();
    this.#options.onClosed(this);
    this.#reader?.reject(this.#ended);
    this.#reader = null;
  }

  #next(): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== null) {
        reject(this.#ended);
        return;
      }
      this.#reader = { resolve, reject };
      this.#options.onAsked(this);
    });
  }
}
