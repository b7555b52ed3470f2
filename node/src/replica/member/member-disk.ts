/**
 * The disk of a member: its free space, and a reserve file for the time when it is full.
 *
 * Deleting needs space too. So a member releases the reserve when it starts on a full disk, or when the disks of most
 * voters are full. It creates the reserve again when there is space (P45).
 */

import { DiskSpaceMonitor, type FileSystemSpace, ReserveFile } from "../../storage/index.ts";
import type { DiskSpaceLevel, Scheduler } from "../context/index.ts";

export interface MemberDiskOptions {
  readonly directory: string;
  readonly scheduler: Scheduler;
  readonly measureDisk: (directory: string) => Promise<FileSystemSpace>;
  /** Whether the member keeps a reserve. */
  readonly hasReserve: boolean;
  readonly onChange: (space: DiskSpaceLevel) => void;
}

export class MemberDisk {
  readonly #monitor: DiskSpaceMonitor;
  readonly #reserve: ReserveFile | null;
  #fileSystemSpace: FileSystemSpace | null = null;

  constructor(options: MemberDiskOptions) {
    const { directory, scheduler, measureDisk, hasReserve, onChange } = options;
    this.#reserve = hasReserve ? new ReserveFile(directory) : null;
    this.#monitor = new DiskSpaceMonitor({
      directory,
      scheduler,
      measure: measureDisk,
      onMeasured: (measured) => {
        this.#fileSystemSpace = measured;
        void this.#reserve?.maintain(measured);
      },
      onChange,
    });
  }

  get space(): DiskSpaceLevel {
    return this.#monitor.space;
  }

  /** As of the last measurement; null before the first one. */
  get fileSystemSpace(): FileSystemSpace | null {
    return this.#fileSystemSpace;
  }

  /** What is wrong, for people. */
  get alarms(): string[] {
    const alarms: string[] = [];
    if (this.#monitor.failure !== null) {
      alarms.push(`the free space on the disk is not known: ${this.#monitor.failure.message}`);
    }
    const failure = this.#reserve?.failure ?? null;
    return failure === null ? alarms : [...alarms, `the disk reserve cannot be kept: ${failure.message}`];
  }

  /** Makes space for opening the stores; the caller must await it before that. Never rejects. */
  async ensureSpace(): Promise<void> {
    await this.#monitor.refresh();
    if (this.#monitor.space === "full") {
      await this.release();
    }
  }

  /** Releases the reserve. */
  async release(): Promise<void> {
    await this.#reserve?.release();
    await this.#monitor.refresh();
  }

  /** Measures the disk now instead of within the next second. */
  async refresh(): Promise<void> {
    await this.#monitor.refresh();
  }

  async stop(): Promise<void> {
    this.#monitor.stop();
    await this.#reserve?.stop();
  }
}
