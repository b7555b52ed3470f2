/**
 * The disk of a member: its free space, and a reserve file for the time when it is full.
 *
 * Deleting needs space too. So a member releases the reserve when it starts on a full disk, or when the disks of most
 * voters are full. It creates the reserve again when there is space (P45).
 */

import { type DiskRoom, DiskSpace, ReserveFile } from "../storage/index.ts";
import type { Scheduler } from "./clock.ts";
import type { DiskSpace as Space } from "./fitness.ts";

export interface MemberDiskOptions {
  readonly directory: string;
  readonly scheduler: Scheduler;
  readonly measureDisk: (directory: string) => Promise<DiskRoom>;
  /** Whether the member keeps a reserve. */
  readonly hasReserve: boolean;
  readonly onChange: (space: Space) => void;
}

export class MemberDisk {
  readonly #space: DiskSpace;
  readonly #reserve: ReserveFile | null;
  #room: DiskRoom | null = null;

  constructor(options: MemberDiskOptions) {
    const { directory, scheduler, measureDisk, hasReserve, onChange } = options;
    this.#reserve = hasReserve ? new ReserveFile(directory) : null;
    this.#space = new DiskSpace({
      directory,
      scheduler,
      measure: measureDisk,
      onMeasured: (room) => {
        this.#room = room;
        void this.#reserve?.keep(room);
      },
      onChange,
    });
  }

  get space(): Space {
    return this.#space.space;
  }

  /** As of the last measurement; null before the first one. */
  get room(): DiskRoom | null {
    return this.#room;
  }

  /** What is wrong, for people. */
  get alarms(): string[] {
    const alarms: string[] = [];
    if (this.#space.failure !== null) {
      alarms.push(`the free space on the disk is not known: ${this.#space.failure.message}`);
    }
    const failure = this.#reserve?.failure ?? null;
    return failure === null ? alarms : [...alarms, `the disk reserve cannot be kept: ${failure.message}`];
  }

  /** Makes space for opening the stores; the caller must await it before that. Never rejects. */
  async makeRoom(): Promise<void> {
    await this.#space.refresh();
    if (this.#space.space === "full") {
      await this.release();
    }
  }

  /** Releases the reserve. */
  async release(): Promise<void> {
    await this.#reserve?.release();
    await this.#space.refresh();
  }

  /** Measures the disk now instead of within the next second. */
  async look(): Promise<void> {
    await this.#space.refresh();
  }

  async stop(): Promise<void> {
    this.#space.stop();
    await this.#reserve?.stop();
  }
}
