/**
 * A file system of its own on a loop device, whose writes can be held up, and which can be made to fail like a disk that
 * has died: from then on nothing is written any more, and whoever asks for that to be durable is told so.
 */

import { mkdirSync, rmdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { CommandError } from "../../testing/index.ts";
import { until } from "../test/harness/index.ts";
import { run, succeeds } from "./command.ts";

/** Room for the data of a long run; only what is written takes room on the disk below. */
export const BLOCK_DISK_BYTES = 1024 * 1024 * 1024;
/** e2fsck ends with this when it has corrected what it found. */
const CORRECTED = 1;

export class BlockDisk {
  readonly directory: string;
  readonly #image: string;

  private constructor(directory: string, image: string) {
    this.directory = directory;
    this.#image = image;
  }

  /** Makes one of so many bytes in a file, and mounts it on a directory; both are made. */
  static async mount(directory: string, image: string, bytes: number): Promise<BlockDisk> {
    mkdirSync(directory, { mode: 0o700 });
    writeFileSync(image, "", { mode: 0o600 });
    truncateSync(image, bytes);
    await run("mkfs.ext4", ["-q", "-m", "0", image]);
    const disk = new BlockDisk(directory, image);
    await disk.#mount();
    return disk;
  }

  /** Holds up every write until `thaw`: whoever writes waits, and cannot even be killed. */
  async freeze(): Promise<void> {
    await run("fsfreeze", ["--freeze", this.directory]);
  }

  async thaw(): Promise<void> {
    await run("fsfreeze", ["--unfreeze", this.directory]);
  }

  /** Lets every write and sync fail from now on, until `repair`. */
  async fail(): Promise<void> {
    await run("mount", ["-o", "remount,abort", this.directory]);
  }

  /** Takes the right to write away from everybody, or gives it back. Nobody may write at that time. */
  async setReadOnly(isReadOnly: boolean): Promise<void> {
    await run("mount", ["-o", `remount,${isReadOnly ? "ro" : "rw"}`, this.directory]);
  }

  /** Makes it usable again, with what was durable. Nobody may use it. */
  async repair(): Promise<void> {
    await run("umount", [this.directory]);
    // The kernel may take a moment to give the file system up.
    await until("the disk to be checked", () => this.#isChecked());
    await this.#mount();
  }

  /** Also while it is frozen. Nothing is left of it, so that a member of the same name can have another one. */
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
