/** A small file system in memory, which a fault fills to the last byte while a member has its data there. */

import { mkdirSync } from "node:fs";
import { type FileHandle, open, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./command.ts";

const MIB = 1024 * 1024;
/** Enough for the data of a long run. */
const SIZE_BYTES = 384 * MIB;
/** First in large pieces, then in pages, so that no page stays free. */
const PIECES_BYTES = [MIB, 4096];
const FILLER = "filler";

export class SmallDisk {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** Mounts a new file system on the directory, which is created. */
  static async mount(directory: string): Promise<SmallDisk> {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    await run("mount", ["-t", "tmpfs", "-o", `size=${SIZE_BYTES},mode=0700`, "quoin-nemesis", directory]);
    return new SmallDisk(directory);
  }

  /**
   * Fills all free space; may be called again.
   *
   * @returns whether a write failed because the disk is full
   */
  async fill(): Promise<boolean> {
    const file = await open(join(this.directory, FILLER), "a");
    try {
      let isFull = false;
      for (const bytes of PIECES_BYTES) {
        isFull = await writeUntilFull(file, new Uint8Array(bytes));
      }
      return isFull;
    } finally {
      await file.close();
    }
  }

  /** Free space in bytes. */
  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.directory);
    return bavail * bsize;
  }

  /** Frees the space again. */
  async empty(): Promise<void> {
    await rm(join(this.directory, FILLER), { force: true });
  }

  async unmount(): Promise<void> {
    // A process with an open file there keeps it; no other process sees the mount any more.
    await run("umount", ["--lazy", this.directory]);
  }
}

async function writeUntilFull(file: FileHandle, piece: Uint8Array): Promise<boolean> {
  for (let written = 0; written <= SIZE_BYTES; written += piece.length) {
    try {
      await file.write(piece);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOSPC") {
        return true;
      }
      throw error;
    }
  }
  return false;
}
