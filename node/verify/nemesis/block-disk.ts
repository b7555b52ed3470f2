/**
 * A separate file system on a loop device. Its writes can be frozen, and it can be made to fail like a dead disk: then
 * every write and sync fails.
 */

import { mkdirSync, rmdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { CommandError } from "../../../testing/index.ts";
import { until } from "../../test/harness/index.ts";
import { run, succeeds } from "./command.ts";

/** Enough for the data of a long run. Only written blocks take space on the disk below. */
export const BLOCK_DISK_BYTES = 1024 * 1024 * 1024;
/** Exit code of e2fsck after it has corrected errors. */
const CORRECTED = 1;

export class BlockDisk {
  readonly directory: string;
  readonly #image: string;

  private constructor(directory: string, image: string) {
    this.directory = directory;
    this.#image = image;
  }

  /** Creates a file system of `bytes` in the file `image`, and mounts it on the directory. Creates both. */
  static async mount(directory: string, image: string, bytes: number): Promise<BlockDisk> {
    mkdirSync(directory, { mode: 0o700 });
    writeFileSync(image, "", { mode: 0o600 });
    truncateSync(image, bytes);
    await run("mkfs.ext4", ["-q", "-m", "0", image]);
    const disk = new BlockDisk(directory, image);
    await disk.#mount();
    return disk;
  }

  /** Blocks every write until `thaw`. A process that writes waits, and cannot even be killed. */
  async freeze(): Promise<void> {
    await run("fsfreeze", ["--freeze", this.directory]);
  }

  async thaw(): Promise<void> {
    await run("fsfreeze", ["--unfreeze", this.directory]);
  }

  /** Makes every write and sync fail until `repair`. */
  async fail(): Promise<void> {
    await run("mount", ["-o", "remount,abort", this.directory]);
  }

  /** Makes the file system read-only, or writable again. No process may write at that time. */
  async setReadOnly(isReadOnly: boolean): Promise<void> {
    await run("mount", ["-o", `remount,${isReadOnly ? "ro" : "rw"}`, this.directory]);
  }

  /** Makes it usable again, with its durable content. No process may use it at that time. */
  async repair(): Promise<void> {
    await run("umount", [this.directory]);
    // The kernel may take a moment to release the file system.
    await until("the disk to be checked", () => this.#isChecked());
    await this.#mount();
  }

  /** Removes it completely, also while it is frozen, so that a member of the same name can have another one. */
  async unmount(): Promise<void> {
    await succeeds("fsfreeze", ["--unfreeze", this.directory]);
    await run("umount", ["--lazy", this.directory]);
    rmdirSync(this.directory);
    rmSync(this.#image);
  }

  async #isChecked(): Promise<boolean> {
    if ((await run("losetup", ["--associated", this.#image])).trim() !== "") {
      return false;
    }
    try {
      await run("e2fsck", ["-f", "-y", this.#image]);
      return true;
    } catch (error) {
      if (error instanceof CommandError && error.code === CORRECTED) {
        return true;
      }
      throw error;
    }
  }

  async #mount(): Promise<void> {
    await run("mount", ["-o", "loop", this.#image, this.directory]);
  }
}
