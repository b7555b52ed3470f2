/**
 * The reserve: a file in the data directory that holds room on the disk, to be given back when the disk is full.
 *
 * Deleting and compacting need room too, so a disk that is full to the last byte could not be emptied by the member
 * itself (P45). The file is really written, slice by slice, one with each call of `keep`, so that it takes neither the
 * event loop's time nor the disk's from what is urgent. It holds nothing that matters: a failure here ends no member.
 */

import { randomBytes } from "node:crypto";
import { open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type DiskRoom, fullBelow, spaceOf } from "./disk-space.ts";

/** Its name in the data directory. */
export const RESERVE_FILE = "reserve";

const MIB = 1024 * 1024;
/** More than the room below which a disk counts as full, by as much as getting out of that state may take. */
const BEYOND_FULL_BYTES = 64 * MIB;
/** On smaller file systems there is none. From here on it takes less than 5 % of any: 2 % and 64 MiB at most. */
const FILE_SYSTEM_BYTES_MIN = 4 * 1024 * MIB;
/** Written and made durable at a time. */
const SLICE_BYTES = 8 * MIB;
/** After a failure, so many calls of `keep` do nothing: about a minute. */
const CALLS_AFTER_FAILURE = 60;
/** Only the owner may read what is in the data directory. */
const FILE_MODE = 0o600;

/** Bytes of the reserve on a file system of so many bytes; 0 if there is none. */
export function reserveBytes(totalBytes: number): number {
  return totalBytes < FILE_SYSTEM_BYTES_MIN ? 0 : Math.floor(fullBelow(totalBytes)) + BEYOND_FULL_BYTES;
}

export class ReserveFile {
  readonly #path: string;
  /** Steps, one after the other. */
  #work: Promise<void> = Promise.resolve();
  #isBusy = false;
  /** Bytes of the file; null if that is not known. */
  #length: number | null = null;
  #failure: Error | null = null;
  #callsToSkip = 0;
  #isStopped = false;
  /** Random, so that no file system takes it for less than it is. */
  #slice: Uint8Array | null = null;

  constructor(directory: string) {
    this.#path = join(directory, RESERVE_FILE);
  }

  /** Why the last step failed; null if it succeeded. */
  get failure(): Error | null {
    return this.#failure;
  }

  /**
   * Takes one more step towards the whole file, in the background, if it is not whole and the disk has room: it must
   * not be low with all of the file in it. To be called about once a second. Resolves when the step is done, or has
   * failed; nothing has to wait for it.
   */
  async keep(room: DiskRoom): Promise<void> {
    if (this.#isBusy || this.#isStopped) {
      return;
    }
    if (this.#callsToSkip > 0) {
      this.#callsToSkip--;
      return;
    }
    const target = reserveBytes(room.totalBytes);
    if (this.#length === null || this.#length < target) {
      this.#isBusy = true;
      await this.#step(() => this.#grow(room, target));
      this.#isBusy = false;
    }
  }

  /** Gives its room back. Resolves when that is done, or has failed. It is made again when there is room (`keep`). */
  release(): Promise<void> {
    return this.#step(() => this.#remove());
  }

  /** Leaves the file as it is; the next start goes on with it. Resolves when nothing is written any more. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#work;
  }

  async #grow(room: DiskRoom, target: number): Promise<void> {
    const length = this.#length ?? (await lengthOf(this.#path));
    this.#length = length;
    const missing = target - length;
    if (missing <= 0) {
      this.#slice = null;
      return;
    }
    if (this.#isStopped || spaceOf(room.freeBytes - missing, room.totalBytes) !== "ok") {
      return;
    }
    this.#slice ??= randomBytes(SLICE_BYTES);
    const bytes = this.#slice.subarray(0, missing);
    try {
      await append(this.#path, bytes);
      this.#length = length + bytes.length;
    } catch (error) {
      // What is left of it may be what the disk lacks now.
      await this.#remove();
      throw error;
    }
  }

  async #remove(): Promise<void> {
    this.#length = null;
    await rm(this.#path, { force: true });
  }

  #step(action: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(action).then(
      () => {
        this.#failure = null;
      },
      (error: unknown) => {
        this.#failure = error instanceof Error ? error : new Error(String(error));
        this.#callsToSkip = CALLS_AFTER_FAILURE;
      },
    );
    return this.#work;
  }
}

async function lengthOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return 0;
    }
    throw error;
  }
}

/** Durable when it resolves, so that the length of the file is never more than what was written. */
async function append(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "a", FILE_MODE);
  try {
    await file.writeFile(bytes);
    await file.datasync();
  } finally {
    await file.close();
  }
}
