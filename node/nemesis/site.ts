/** Where the members of a run are: namespaces, disks, directories; all of it removed in the end, whatever happened. */

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { MemberPlace } from "../test/harness/index.ts";
import { BLOCK_DISK_BYTES, BlockDisk } from "./block-disk.ts";
import { run } from "./command.ts";
import { endProcesses } from "./leftovers.ts";
import type { Abilities } from "./machine.ts";
import { Network } from "./network.ts";
import { directoryOf, RUN_VARIABLE } from "./run-name.ts";
import { SmallDisk } from "./small-disk.ts";

export class Site {
  /** For all files of the cluster. */
  readonly directory = directoryOf(process.pid);
  readonly network: Network | null;
  readonly smallDisks = new Map<string, SmallDisk>();
  readonly blockDisks = new Map<string, BlockDisk>();
  readonly #abilities: Abilities;
  readonly #logs: string;

  private constructor(network: Network | null, abilities: Abilities, logs: string) {
    this.network = network;
    this.#abilities = abilities;
    this.#logs = logs;
  }

  /** @param logs the directory for the logs of the members. */
  static async create(abilities: Abilities, logs: string): Promise<Site> {
    const site = new Site(abilities.hasNetwork ? await Network.create() : null, abilities, logs);
    mkdirSync(site.directory, { mode: 0o700 });
    if (site.#hasDisks) {
      // Members see all mounts, in spaces of their own. What is unmounted here must go there too, or it stays in use.
      await run("mount", ["--bind", site.directory, site.directory]);
      await run("mount", ["--make-shared", site.directory]);
    }
    return site;
  }

  /**
   * Makes the place of a new member. Members with odd numbers have their data on small disks, the others on disks that
   * can be made to fail, as far as there are such.
   */
  async placeOf(name: string): Promise<MemberPlace> {
    const place = {
      ...(await this.network?.join(name)),
      logFile: join(this.#logs, `${name}.log`),
      environment: { [RUN_VARIABLE]: String(process.pid) },
    };
    const { hasSmallDisks, hasBlockDisks } = this.#abilities;
    const directory = join(this.directory, `disk-${name}`);
    const isOdd = Number(name.slice(2)) % 2 === 1;
    if (isOdd && hasSmallDisks) {
      this.smallDisks.set(name, await SmallDisk.mount(directory));
      return { ...place, directory };
    }
    if (!isOdd && hasBlockDisks) {
      const image = join(this.directory, `image-${name}`);
      this.blockDisks.set(name, await BlockDisk.mount(directory, image, BLOCK_DISK_BYTES));
      return { ...place, directory };
    }
    return place;
  }

  /** Takes the place of a member away that was removed and has ended. */
  async release(name: string): Promise<void> {
    await this.network?.leave(name);
    await this.smallDisks.get(name)?.unmount();
    await this.blockDisks.get(name)?.unmount();
    this.smallDisks.delete(name);
    this.blockDisks.delete(name);
  }

  /** Takes everything away, and ends what still runs. */
  async remove(): Promise<void> {
    // What waits for a frozen disk cannot be ended before that goes.
    for (const disk of [...this.smallDisks.values(), ...this.blockDisks.values()]) {
      await disk.unmount();
    }
    if (process.platform === "linux") {
      endProcesses((runner) => runner === process.pid);
    }
    await this.network?.remove();
    if (this.#hasDisks) {
      await run("umount", ["--lazy", this.directory]);
    }
    rmSync(this.directory, { recursive: true, force: true });
  }

  get #hasDisks(): boolean {
    return this.#abilities.hasSmallDisks || this.#abilities.hasBlockDisks;
  }
}
