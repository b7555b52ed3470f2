/**
 * The disk of a member: how much room it has, and the room that is kept back for when it has none.
 *
 * Deleting needs room too. So a member that starts on a full disk, or hears that most voters have no room left, gives
 * the reserve back, and makes it again when there is room (P45).
 */

import { type DiskRoom, DiskSpace, ReserveFile } from "../storage/index.ts";
import type { Scheduler } from "./clock.ts";
import type { DiskSpace as Space } from "./fitness.ts";

export interface MemberDiskOptions {
  readonly directory: string;
  readonly scheduler: Scheduler;
  readonly measureDisk: (directory: string) => Promise<DiskRoom>;
  /** Whether room is kept back. */
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

  /** As of the last measurement; null before there was one. */
  get room(): DiskRoom | null {
    return this.#room;
  }

  /** What is wrong, for people. */
  get alarms(): string[] {
    const alarms: string[] = [];
    if (this.#space.failure !== null) {
      alarms.push(`the room on the disk is not known: ${this.#space.failure.message}`);
    }
    const failure = this.#reserve?.failure ?? null;
    return failure === null ? alarms : [...alarms, `no room is kept back on the disk: ${failure.message}`];
  }

  /** To be awaited before the stores are opened: they need room for that. Never rejects. */
  async makeRoom(): Promise<void> {
    await this.#space.refresh();
    if (this.#space.space === "full") {
      await this.release();
    }
  }

  /** Gives back what is kept in reserve. */
  async release(): Promise<void> {
    await this.#reserve?.release();
    await this.#space.refresh();
  }

  /** Looks now instead of with the next second. */
  async look(): Promise<void> {
    await this.#space.refresh();
  }

  async stop(): Promise<void> {
    this.#space.stop();
    await this.#reserve?.stop();
  }
}
