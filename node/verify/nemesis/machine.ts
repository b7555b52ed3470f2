/**
 * Finds out which faults this machine allows. It tries out everything, because a kernel may lack what its tools offer.
 * It installs missing tools by the system's package manager if that is wanted and possible.
 */

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { whyNoCertificates } from "../../test/peers/index.ts";
import { BlockDisk } from "./block-disk.ts";
import { run, succeeds } from "./command.ts";
import { findGroupVersion, type GroupVersion } from "./control-groups.ts";
import { directoryOf, namespaceOf } from "./run-name.ts";
import { SmallDisk } from "./small-disk.ts";
import { compileSyncShim } from "./sync-shim.ts";

/** What this machine allows. */
export interface Capabilities {
  /** Network namespaces with packet filters: partitions, loss, cut connections. */
  readonly hasNetwork: boolean;
  /** Links with a limited rate. */
  readonly hasRate: boolean;
  /** Links with a delay. */
  readonly hasDelay: boolean;
  /** Links that let some packets overtake others. */
  readonly hasReordering: boolean;
  /** Sync calls that can be made to wait and to fail: there is a compiler for the shim library. */
  readonly hasSyncShim: boolean;
  /** Version of control groups, for limits of processor and memory; null = none. */
  readonly groupVersion: GroupVersion | null;
  /** Certificates can be created. */
  readonly hasCertificates: boolean;
  /** File systems in memory that can be filled. */
  readonly hasSmallDisks: boolean;
  /** File systems on loop devices that can be frozen, made to fail, and made read-only. */
  readonly hasBlockDisks: boolean;
  /** A line for each missing ability, with the reason. */
  readonly lacking: readonly string[];
}

interface Tool {
  readonly program: string;
  readonly probe: readonly string[];
  /** Name of its Debian package. */
  readonly packageName: string;
}

const TOOLS: readonly Tool[] = [
  { program: "ip", probe: ["-Version"], packageName: "iproute2" },
  { program: "tc", probe: ["-Version"], packageName: "iproute2" },
  { program: "nft", probe: ["--version"], packageName: "nftables" },
];
/** Large enough for a journal. */
const PROBE_DISK_BYTES = 16 * 1024 * 1024;
const INSTALL_TIMEOUT_MS = 5 * 60_000;
const FILTER = `table inet probe {
  chain input {
    type filter hook input priority 0
    ip saddr 192.0.2.1 numgen random mod 100 < 20 counter drop
    ip saddr 192.0.2.1 meta l4proto tcp counter reject with tcp reset
  }
}`;

const PRIORITIES = `table inet priorities {
  chain output {
    type filter hook output priority 0
    ip daddr 192.0.2.1 numgen random mod 3 0 counter meta priority set 1:2
  }
}`;

type NetworkCapabilities = Pick<Capabilities, "hasNetwork" | "hasRate" | "hasDelay" | "hasReordering">;

const NO_NETWORK: NetworkCapabilities = { hasNetwork: false, hasRate: false, hasDelay: false, hasReordering: false };

/**
 * Finds out what this machine allows.
 *
 * @param mayInstall whether to install missing tools, which changes the machine and needs a network
 */
export async function findCapabilities(mayInstall: boolean): Promise<Capabilities> {
  const portable = await probePortable();
  if (process.platform !== "linux" || process.getuid?.() !== 0) {
    const why = process.platform === "linux" ? "this is not root" : "this is not Linux";
    const lacking = [...portable.lacking, `no faults of network and disks, no limits: ${why}`];
    return { ...NO_NETWORK, hasSmallDisks: false, hasBlockDisks: false, groupVersion: null, ...portable, lacking };
  }
  const missing = await missingTools(mayInstall);
  const disks = await probeDisks();
  const names = missing.map(({ program, packageName }) => `${program} (package ${packageName})`);
  const network =
    missing.length === 0
      ? await probeNetwork()
      : { ...NO_NETWORK, lacking: [`no network faults: there is no ${names.join(" and no ")}`] };
  const groupVersion = findGroupVersion(process.pid);
  const noLimits = groupVersion === null ? ["no limits of processor and memory: no control groups can be made"] : [];
  const lacking = [...portable.lacking, ...disks.lacking, ...network.lacking, ...noLimits];
  return { ...portable, ...disks, ...network, groupVersion, lacking };
}

/** Abilities that do not need root. */
async function probePortable(): Promise<Pick<Capabilities, "hasSyncShim" | "hasCertificates" | "lacking">> {
  const lacking: string[] = [];
  const directory = join(directoryOf(process.pid), "probe");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  try {
    const hasSyncShim = await isPossible(lacking, "no syncs that wait or fail", async () => {
      await compileSyncShim(directory);
    });
    const noCertificates = whyNoCertificates();
    if (noCertificates !== null) {
      lacking.push(`members meet in plain TCP: ${noCertificates}`);
    }
    return { hasSyncShim, hasCertificates: noCertificates === null, lacking };
  } finally {
    rmSync(directoryOf(process.pid), { recursive: true, force: true });
  }
}

async function missingTools(mayInstall: boolean): Promise<readonly Tool[]> {
  const missing = await toolsNotFound();
  if (missing.length === 0 || !mayInstall || !(await succeeds("apt-get", ["--version"]))) {
    return missing;
  }
  const packages = [...new Set(missing.map(({ packageName }) => packageName))];
  console.log(`installing ${packages.join(", ")}`);
  const install = ["install", "--yes", "--no-install-recommends", ...packages];
  try {
    await run("apt-get", install, INSTALL_TIMEOUT_MS);
  } catch (error) {
    console.log(`that failed: ${error instanceof Error ? error.message : String(error)}`);
  }
  return toolsNotFound();
}

async function toolsNotFound(): Promise<readonly Tool[]> {
  const found = await Promise.all(TOOLS.map(({ program, probe }) => succeeds(program, probe)));
  return TOOLS.filter((_, at) => found[at] !== true);
}

async function probeDisks(): Promise<Pick<Capabilities, "hasSmallDisks" | "hasBlockDisks" | "lacking">> {
  const directory = join(directoryOf(process.pid), "probe");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lacking: string[] = [];
  try {
    const hasSmallDisks = await isPossible(lacking, "no full disk", async () => {
      await (await SmallDisk.mount(join(directory, "small"))).unmount();
    });
    const hasBlockDisks = await isPossible(lacking, "no disk that freezes or fails", async () => {
      const disk = await BlockDisk.mount(join(directory, "block"), join(directory, "image"), PROBE_DISK_BYTES);
      try {
        await disk.freeze();
        await disk.thaw();
        await disk.fail();
        await disk.repair();
        await disk.setReadOnly(true);
        await disk.setReadOnly(false);
      } finally {
        await disk.unmount();
      }
    });
    return { hasSmallDisks, hasBlockDisks, lacking };
  } finally {
    rmSync(directoryOf(process.pid), { recursive: true, force: true });
  }
}

/** Tries something out, and notes any failure. */
async function isPossible(lacking: string[], consequence: string, attempt: () => Promise<void>): Promise<boolean> {
  try {
    await attempt();
    return true;
  } catch (error) {
    lacking.push(`${consequence}: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
}

async function probeNetwork(): Promise<NetworkCapabilities & Pick<Capabilities, "lacking">> {
  const name = namespaceOf(process.pid, "probe");
  if (!(await succeeds("ip", ["netns", "add", name]))) {
    return { ...NO_NETWORK, lacking: ["no network faults: this kernel or container allows no network namespaces"] };
  }
  const inside = (...command: readonly string[]): Promise<boolean> =>
    succeeds("ip", ["netns", "exec", name, ...command]);
  try {
    if (!(await inside("nft", FILTER))) {
      return { ...NO_NETWORK, lacking: ["no network faults: this kernel or container allows no packet filters"] };
    }
    const queue = (...discipline: readonly string[]): Promise<boolean> =>
      inside("tc", "qdisc", "replace", "dev", "lo", "root", ...discipline);
    const hasRate = await queue("tbf", "rate", "1mbit", "burst", "16k", "latency", "400ms");
    const hasDelay = await queue("netem", "delay", "1ms");
    const hasReordering = (await queue("htb", "default", "1")) && (await inside("nft", PRIORITIES));
    const lacking = [
      ...(hasRate ? [] : ["no low rates: this kernel has no tbf"]),
      ...(hasDelay ? [] : ["this kernel has no netem: delays are made by a relay instead"]),
      ...(hasReordering ? [] : ["no reordering: this kernel has no htb, or sets no priorities"]),
    ];
    return { hasNetwork: true, hasRate, hasDelay, hasReordering, lacking };
  } finally {
    await run("ip", ["netns", "delete", name]);
  }
}
