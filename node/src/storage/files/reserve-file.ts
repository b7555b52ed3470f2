/**
 * The reserve: a file in the data directory that occupies disk space, and is deleted when the disk is full.
 *
 * Deleting and compacting need space too, so a member could not free a disk that is full to the last byte (P45). The
 * file is not sparse: each call of `keep` writes one slice, so that urgent work keeps both the event loop and the disk.
 * It contains no data, so a failure here ends no member.
 */

import { randomBytes } from "node:crypto";
import { open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type FileSystemSpace, fullBelow, spaceOf } from "./disk-space-monitor.ts";
import { FILE_MODE } from "./durable-file.ts";

/** Its name in the data directory. */
export const RESERVE_FILE = "reserve";

const MIB = 1024 * 1024;
/** Size of the reserve beyond the threshold of a full disk: what freeing the disk may need. */
const BEYOND_FULL_BYTES = 64 * MIB;
/** Smaller file systems have no reserve. On larger ones it takes less than 5 %: at most 2 % and 64 MiB. */
const FILE_SYSTEM_BYTES_MIN = 4 * 1024 * MIB;
/** Bytes that one step writes and syncs. */
const SLICE_BYTES = 8 * MIB;
/** After a failure this many calls of `keep` do nothing: about a minute. */
const CALLS_AFTER_FAILURE = 60;

/** Bytes of the reserve on a file system of `totalBytes`; 0 = no reserve. */
export function reserveBytes(totalBytes: number): number {
  return totalBytes < FILE_SYSTEM_BYTES_MIN ? 0 : Math.floor(fullBelow(totalBytes)) + BEYOND_FULL_BYTES;
}

export class ReserveFile {
  readonly #path: string;
  /** Steps run one after the other. */
  #work: Promise<void> = Promise.resolve();
  #isBusy = false;
  /** Bytes of the file; null if not known. */
  #length: number | null = null;
  #failure: Error | null = null;
  #callsToSkip = 0;
  #isStopped = false;
  /** Random bytes, so that no file system can compress or deduplicate them. */
  #slice: Uint8Array | null = null;

  constructor(directory: string) {
    this.#path = join(directory, RESERVE_FILE);
  }

  /** Why the last step failed; null if it succeeded. */
  get failure(): Error | null {
    return this.#failure;
  }

  /**
   * Writes one more slice in the background, if the file is not complete and the disk has space: with the complete file
   * it must not be low. The caller calls this about once a second. Resolves when the step is done or has failed; the
   * caller need not wait.
   */
  async maintain(measured: FileSystemSpace): Promise<void> {
    if (this.#isBusy || this.#isStopped) {
      return;
    }
    if (this.#callsToSkip > 0) {
      this.#callsToSkip--;
      return;
    }
    const target = reserveBytes(measured.totalBytes);
    if (this.#length === null || this.#length < target) {
      this.#isBusy = true;
      await this.#step(() => this.#grow(measured, target));
      this.#isBusy = false;
    }
  }

  /** Deletes the file. Resolves when that is done or has failed. `keep` creates it again when there is space. */
  release(): Promise<void> {
    return this.#step(() => this.#remove());
  }

  /** Leaves the file as it is; the next start continues with it. Resolves when no write is in flight. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#work;
  }

  async #grow(measured: FileSystemSpace, target: number): Promise<void> {
    const length = this.#length ?? (await lengthOf(this.#path));
    this.#length = length;
    const missing = target - length;
    if (missing <= 0) {
      this.#slice = null;
      return;
    }
    if (this.#isStopped || spaceOf(measured.freeBytes - missing, measured.totalBytes) !== "ok") {
      return;
    }
    this.#slice ??= randomBytes(SLICE_BYTES);
    const bytes = this.#slice.subarray(0, missing);
    try {
      await append(this.#path, bytes);
      this.#length = length + bytes.length;
    } catch (error) {
      // Delete the file: the disk may need its space now.
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

/** Durable when it resolves, so that the file's length never exceeds the written bytes. */
async function append(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "a", FILE_MODE);
  try {
    await file.writeFile(bytes);
    await file.datasync();
  } finally {
    await file.close();
  }
}
