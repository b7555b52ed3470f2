/**
 * Measures every second how full the disk of the data directory is.
 *
 * A member whose disk is exhausted stops at the first failed write, so it must react earlier. With *low* it refuses
 * commands that grow the state; with *full* it does not lead (P45). A measurement never blocks the event loop. While
 * the disk hangs, the last result stays valid.
 */

import { statfs } from "node:fs/promises";

/** ok: enough space. low: commands that grow the state must be refused. full: only unavoidable writes. */
export type DiskSpaceLevel = "ok" | "low" | "full";

/** A file system, in bytes. */
export interface FileSystemSpace {
  /** Bytes that this user may still write. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The part of the scheduler that is needed here. */
interface Scheduler {
  /** Calls back every `intervalMs` milliseconds until the returned function is called. */
  every(intervalMs: number, callback: () => void): () => void;
}

export interface DiskSpaceMonitorOptions {
  readonly directory: string;
  readonly scheduler: Scheduler;
  /** Measures the file system of the directory; rejects when that fails. */
  readonly measure: (directory: string) => Promise<FileSystemSpace>;
  /** Called after each measurement. */
  readonly onMeasured: (room: FileSystemSpace) => void;
  /** Called when the judgement changes; before the first call it is "ok". */
  readonly onChange: (space: DiskSpaceLevel) => void;
}

const MIB = 1024 * 1024;
const LOW_SHARE = 0.1;
const LOW_BYTES_MAX = 1024 * MIB;
const FULL_SHARE = 0.02;
const FULL_BYTES_MAX = 256 * MIB;
const INTERVAL_MS = 1_000;

/** Judges the free space of a disk of `totalBytes`. */
export function spaceOf(freeBytes: number, totalBytes: number): DiskSpaceLevel {
  if (freeBytes < fullBelow(totalBytes)) {
    return "full";
  }
  return freeBytes < Math.min(totalBytes * LOW_SHARE, LOW_BYTES_MAX) ? "low" : "ok";
}

/** A disk of `totalBytes` is full with fewer free bytes than this. */
export function fullBelow(totalBytes: number): number {
  return Math.min(totalBytes * FULL_SHARE, FULL_BYTES_MAX);
}

/** The space on the file system of this directory. Rejects with the error of the file system. */
export async function measureDisk(directory: string): Promise<FileSystemSpace> {
  const { bavail, blocks, bsize } = await statfs(directory);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

export class DiskSpaceMonitor {
  readonly #options: DiskSpaceMonitorOptions;
  readonly #stopTimer: () => void;
  #space: DiskSpaceLevel = "ok";
  #failure: Error | null = null;
  /** The measurement in flight. */
  #measuring: Promise<void> | null = null;
  #isStopped = false;

  /** Begins to measure, a second from now; `refresh` measures at once. */
  constructor(options: DiskSpaceMonitorOptions) {
    this.#options = options;
    this.#stopTimer = options.scheduler.every(INTERVAL_MS, () => void this.refresh());
  }

  /** As of the last successful measurement. */
  get space(): DiskSpaceLevel {
    return this.#space;
  }

  /** Why the last measurement failed; null if it succeeded. */
  get failure(): Error | null {
    return this.#failure;
  }

  /** Measures, or waits for the measurement in flight. Never rejects; `failure` has the error. */
  refresh(): Promise<void> {
    if (this.#isStopped) {
      return Promise.resolve();
    }
    this.#measuring ??= this.#measure();
    return this.#measuring;
  }

  /** Stops measuring. No callback is called any more. Does not wait for a measurement that hangs. */
  stop(): void {
    this.#isStopped = true;
    this.#stopTimer();
  }

  async #measure(): Promise<void> {
    const { directory, measure, onChange, onMeasured } = this.#options;
    let measured: FileSystemSpace;
    try {
      measured = await measure(directory);
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
    onMeasured(measured);
    const space = spaceOf(measured.freeBytes, measured.totalBytes);
    if (space !== this.#space) {
      this.#space = space;
      onChange(space);
    }
  }
}
