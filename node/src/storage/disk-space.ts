/**
 * How full the disk of the data directory is, looked at each second.
 *
 * A member that runs into the end of its disk stops at the first refused write, so it must know before: *low* ends what
 * makes the state grow, *full* ends leading (P45). Asking never blocks the event loop: on a disk that hangs the answer
 * stays out, and what was known last holds.
 */

import { statfs } from "node:fs/promises";

/** ok: room enough. low: what grows must be refused. full: nothing should be written that can be left. */
export type Space = "ok" | "low" | "full";

/** A file system, in bytes. */
export interface DiskRoom {
  /** What this user may still write. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The clock's part that is needed here. */
interface Scheduler {
  /** Calls back every so many milliseconds until the returned function is called. */
  every(intervalMs: number, callback: () => void): () => void;
}

export interface DiskSpaceOptions {
  readonly directory: string;
  readonly scheduler: Scheduler;
  /** How the file system of the directory is measured; rejects when that fails. */
  readonly measure: (directory: string) => Promise<DiskRoom>;
  /** Called after each measurement. */
  readonly onMeasured: (room: DiskRoom) => void;
  /** Called when the judgement is another than before; before the first call it is "ok". */
  readonly onChange: (space: Space) => void;
}

const MIB = 1024 * 1024;
const LOW_SHARE = 0.1;
const LOW_BYTES_MAX = 1024 * MIB;
const FULL_SHARE = 0.02;
const FULL_BYTES_MAX = 256 * MIB;
const INTERVAL_MS = 1_000;

/** Judges what is left of so many bytes. */
export function spaceOf(freeBytes: number, totalBytes: number): Space {
  if (freeBytes < fullBelow(totalBytes)) {
    return "full";
  }
  return freeBytes < Math.min(totalBytes * LOW_SHARE, LOW_BYTES_MAX) ? "low" : "ok";
}

/** A disk of so many bytes is full with fewer than this free. */
export function fullBelow(totalBytes: number): number {
  return Math.min(totalBytes * FULL_SHARE, FULL_BYTES_MAX);
}

/** The room on the file system of this directory. Rejects with the error of the file system. */
export async function measureDisk(directory: string): Promise<DiskRoom> {
  const { bavail, blocks, bsize } = await statfs(directory);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

export class DiskSpace {
  readonly #options: DiskSpaceOptions;
  readonly #stopTimer: () => void;
  #space: Space = "ok";
  #failure: Error | null = null;
  /** The measurement in flight. */
  #measuring: Promise<void> | null = null;
  #isStopped = false;

  /** Begins to look, a second from now; `refresh` looks at once. */
  constructor(options: DiskSpaceOptions) {
    this.#options = options;
    this.#stopTimer = options.scheduler.every(INTERVAL_MS, () => void this.refresh());
  }

  /** As of the last measurement that succeeded. */
  get space(): Space {
    return this.#space;
  }

  /** Why the last measurement failed; null if it succeeded. */
  get failure(): Error | null {
    return this.#failure;
  }

  /** Measures, or waits for the measurement that is in flight. Never rejects; what fails is told by `failure`. */
  refresh(): Promise<void> {
    if (this.#isStopped) {
      return Promise.resolve();
    }
    this.#measuring ??= this.#measure();
    return this.#measuring;
  }

  /** Ends looking. Nothing is called back any more; a measurement that hangs is not waited for. */
  stop(): void {
    this.#isStopped = true;
    this.#stopTimer();
  }

  async #measure(): Promise<void> {
    const { directory, measure, onChange, onMeasured } = this.#options;
    let room: DiskRoom;
    try {
      room = await measure(directory);
      this.#failure = null;
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
      return;
    } finally {
      this.#measuring = null;
    }
    if (this.#isStopped) {
      return;
    }
    onMeasured(room);
    const space = spaceOf(room.freeBytes, room.totalBytes);
    if (space !== this.#space) {
      this.#space = space;
      onChange(space);
    }
  }
}
