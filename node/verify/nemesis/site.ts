/** The resources for the members of a run: namespaces, disks, limits, certificates, directories. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { MemberPlacement } from "../../test/harness/index.ts";
import { BLOCK_DISK_BYTES, BlockDisk } from "./block-disk.ts";
import { Certificates } from "./certificates.ts";
import { run } from "./command.ts";
import { ControlGroup } from "./control-groups.ts";
import type { Capabilities } from "./machine.ts";
import { Network } from "./network.ts";
import { directoryOf, RUN_VARIABLE } from "./run-name.ts";
import { SmallDisk } from "./small-disk.ts";
import { compileSyncShim, SyncControl } from "./sync-shim.ts";

export interface SiteOptions {
  /** The directory for the logs of the members. */
  readonly logs: string;
}

export class Site {
  /** Directory for all files of the cluster. */
  readonly directory = directoryOf(process.pid);
  readonly network: Network | null;
  /** Null if members use plain TCP. */
  readonly certificates: Certificates | null;
  readonly smallDisks = new Map<string, SmallDisk>();
  readonly blockDisks = new Map<string, BlockDisk>();
  readonly syncControls = new Map<string, SyncControl>();
  readonly groups = new Map<string, ControlGroup>();
  readonly #abilities: Capabilities;
  readonly #options: SiteOptions;
  /** Path of the library that makes syncs wait and fail; null if there is none. */
  readonly #syncShim: string | null;

  private constructor(network: Network | null, abilities: Capabilities, options: SiteOptions, syncShim: string | null) {
    this.network = network;
    this.#abilities = abilities;
    this.#options = options;
    this.#syncShim = syncShim;
    this.certificates = abilities.hasCertificates ? new Certificates(join(this.directory, "certificates")) : null;
  }

  /** Creates the site. `removeTraces` removes everything that it creates outside of this process's memory. */
  static async create(abilities: Capabilities, options: SiteOptions): Promise<Site> {
    const directory = directoryOf(process.pid);
    mkdirSync(directory, { mode: 0o700 });
    if (abilities.hasSmallDisks || abilities.hasBlockDisks) {
      // Members see all mounts in their own mount namespaces. An unmount must propagate there, or the disk stays in
      // use.
      await run("mount", ["--bind", directory, directory]);
      await run("mount", ["--make-shared", directory]);
    }
    const network = abilities.hasNetwork ? await Network.create() : null;
    return new Site(network, abilities, options, abilities.hasSyncShim ? await compileSyncShim(directory) : null);
  }

  /**
   * Creates the place of a new member. Members with odd numbers have their data on small disks, the others on disks
   * that can be made to fail, if the machine allows these.
   */
  async placementOf(name: string): Promise<MemberPlacement> {
    const { host, through = [] } = (await this.network?.join(name)) ?? {};
    const group = this.#groupOf(name);
    const peerTls = this.certificates?.issue(name, host);
    const directory = await this.#diskOf(name);
    return {
      ...(host === undefined ? {} : { host }),
      // The control groups come first, because inside the namespace the system's groups are not visible.
      through: [...(group?.through ?? []), ...through],
      ...(peerTls === undefined ? {} : { peerTls }),
      ...(directory === null ? {} : { directory }),
      logFile: join(this.#options.logs, `${name}.log`),
      environment: {
        ...this.#syncControlOf(name)?.environment,
        [RUN_VARIABLE]: String(process.pid),
      },
    };
  }

  /** Gives a stopped member another address and returns it; null if all members share one address. */
  async readdress(name: string): Promise<string | null> {
    const host = (await this.network?.readdress(name)) ?? null;
    if (host !== null) {
      this.certificates?.issue(name, host);
    }
    return host;
  }

  /** Removes the place of a member that was removed and has ended. */
  async release(name: string): Promise<void> {
    await this.network?.leave(name);
    await this.smallDisks.get(name)?.unmount();
    await this.blockDisks.get(name)?.unmount();
    await this.groups.get(name)?.remove();
    this.certificates?.forget(name);
    for (const members of [this.smallDisks, this.blockDisks, this.syncControls, this.groups]) {
      members.delete(name);
    }
  }

  #groupOf(name: string): ControlGroup | null {
    const { groupVersion } = this.#abilities;
    if (groupVersion === null) {
      return null;
    }
    const group = ControlGroup.make(groupVersion, process.pid, name);
    this.groups.set(name, group);
    return group;
  }

  #syncControlOf(name: string): SyncControl | null {
    if (this.#syncShim === null) {
      return null;
    }
    const control = new SyncControl(join(this.directory, `sync-${name}`), this.#syncShim);
    this.syncControls.set(name, control);
    return control;
  }

  /** The directory of this member's own disk; null if it has none. */
  async #diskOf(name: string): Promise<string | null> {
    const { hasSmallDisks, hasBlockDisks } = this.#abilities;
    const directory = join(this.directory, `disk-${name}`);
    const isOdd = Number(name.slice(2)) % 2 === 1;
    if (isOdd && hasSmallDisks) {
      this.smallDisks.set(name, await SmallDisk.mount(directory));
      return directory;
    }
    if (!isOdd && hasBlockDisks) {
      const image = join(this.directory, `image-${name}`);
      this.blockDisks.set(name, await BlockDisk.mount(directory, image, BLOCK_DISK_BYTES));
      return directory;
    }
    return null;
  }
}
