/**
 * Control groups that limit the processor time or the memory of a member. Supports version 2 and version 1, whichever
 * the system has.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../test/harness/index.ts";
import { groupsOf } from "./run-name.ts";

const ROOT = "/sys/fs/cgroup";
/** Period of the processor quota, in microseconds. */
const PERIOD_MICROSECONDS = 100_000;
const UNLIMITED_V1 = "-1";
/** A shell command that joins the groups before "--" and then executes the command after it. */
const ENTER = 'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 1; shift; done; shift; exec "$@"';

/** Version of control groups. */
export type GroupVersion = 2 | 1;

/** Directories of the groups of one run, one for each controller in version 1, and one for all in version 2. */
function parentsOf(version: GroupVersion, runner: number): { readonly cpu: string; readonly memory: string } {
  const name = groupsOf(runner);
  return version === 2
    ? { cpu: join(ROOT, name), memory: join(ROOT, name) }
    : { cpu: join(ROOT, "cpu", name), memory: join(ROOT, "memory", name) };
}

/** The version that can be used here; null = none. Tries it out by creating a group, and removes it. */
export function findGroupVersion(runner: number): GroupVersion | null {
  const version = mountedVersion();
  if (version === null) {
    return null;
  }
  try {
    ControlGroup.make(version, runner, "probe");
    return version;
  } catch (error) {
    if (error instanceof Error && "code" in error) {
      return null;
    }
    throw error;
  } finally {
    removeGroups(runner);
  }
}

function mountedVersion(): GroupVersion | null {
  if (existsSync(join(ROOT, "cgroup.controllers"))) {
    return 2;
  }
  const hasBoth = ["cpu", "memory"].every((controller) => existsSync(join(ROOT, controller, "cgroup.procs")));
  return hasBoth ? 1 : null;
}

/** Removes the groups of a run; returns false while one of them has a process. */
export function removeGroups(runner: number): boolean {
  for (const version of [2, 1] as const) {
    for (const parent of new Set(Object.values(parentsOf(version, runner)))) {
      if (!existsSync(parent)) {
        continue;
      }
      const groups = readdirSync(parent, { withFileTypes: true }).filter((entry) => entry.isDirectory());
      for (const directory of [...groups.map(({ name }) => join(parent, name)), parent]) {
        if (processesIn(directory) !== "") {
          return false;
        }
        rmdirSync(directory);
      }
    }
  }
  return true;
}

/** Paths of all directories that may be parents of groups of a run. */
export function groupParents(): string[] {
  return ["", "cpu", "memory"]
    .map((controller) => join(ROOT, controller))
    .filter((directory) => existsSync(directory))
    .flatMap((directory) => readdirSync(directory).map((name) => join(directory, name)));
}

/** The group of one member. */
export class ControlGroup {
  readonly #version: GroupVersion;
  readonly #cpu: string;
  readonly #memory: string;

  /** Creates the group of a member. Raises the system's error if that is not possible. */
  static make(version: GroupVersion, runner: number, name: string): ControlGroup {
    return new ControlGroup(version, runner, name);
  }

  private constructor(version: GroupVersion, runner: number, name: string) {
    const parents = parentsOf(version, runner);
    this.#version = version;
    this.#cpu = join(parents.cpu, name);
    this.#memory = join(parents.memory, name);
    if (version === 2) {
      writeFileSync(join(ROOT, "cgroup.subtree_control"), "+cpu +memory");
      mkdirSync(parents.cpu, { recursive: true });
      writeFileSync(join(parents.cpu, "cgroup.subtree_control"), "+cpu +memory");
    }
    for (const directory of this.#directories) {
      mkdirSync(directory, { recursive: true });
      // Fail now if a file is missing, not in the middle of a fault.
      processesIn(directory);
    }
    readFileSync(this.#cpuLimit);
    readFileSync(this.#memoryLimit);
  }

  /** Command prefix that runs the following command in the group. */
  get through(): readonly string[] {
    return ["sh", "-c", ENTER, "sh", ...this.#directories, "--"];
  }

  /** Limits its processes together to this percentage of one processor; null = no limit. */
  limitCpu(percent: number | null): void {
    const quota = percent === null ? null : Math.round((PERIOD_MICROSECONDS * percent) / 100);
    if (this.#version === 2) {
      writeFileSync(this.#cpuLimit, `${quota ?? "max"} ${PERIOD_MICROSECONDS}`);
    } else {
      writeFileSync(this.#cpuLimit, String(quota ?? UNLIMITED_V1));
    }
  }

  /** How often its processes were throttled. */
  get throttled(): number {
    return numberOf(readFileSync(join(this.#cpu, "cpu.stat"), "utf8"), "nr_throttled");
  }

  /** Limits its memory, page cache included, to this many bytes; null = no limit. */
  limitMemory(bytes: number | null): void {
    writeFileSync(this.#memoryLimit, bytes === null ? (this.#version === 2 ? "max" : UNLIMITED_V1) : String(bytes));
  }

  /** Memory in use, in bytes. */
  get memoryBytes(): number {
    const file = this.#version === 2 ? "memory.current" : "memory.usage_in_bytes";
    return Number(readFileSync(join(this.#memory, file), "utf8"));
  }

  /** How often the limit was reached, so that the kernel had to reclaim memory or kill a process. */
  get memoryRefused(): number {
    return this.#version === 2
      ? numberOf(readFileSync(join(this.#memory, "memory.events"), "utf8"), "max")
      : Number(readFileSync(join(this.#memory, "memory.failcnt"), "utf8"));
  }

  /** Removes the group as soon as its last process has ended. */
  async remove(): Promise<void> {
    await until("a control group to be empty", () =>
      this.#directories.every((directory) => processesIn(directory) === ""),
    );
    for (const directory of this.#directories) {
      rmdirSync(directory);
    }
  }

  get #directories(): readonly string[] {
    return [...new Set([this.#cpu, this.#memory])];
  }

  get #cpuLimit(): string {
    return join(this.#cpu, this.#version === 2 ? "cpu.max" : "cpu.cfs_quota_us");
  }

  get #memoryLimit(): string {
    return join(this.#memory, this.#version === 2 ? "memory.max" : "memory.limit_in_bytes");
  }
}

/** Ids of the processes in a group, one a line. */
function processesIn(directory: string): string {
  return readFileSync(join(directory, "cgroup.procs"), "utf8");
}

/** The number after a name in a file with one name and number per line. */
function numberOf(text: string, name: string): number {
  return Number(new RegExp(`^${name} ([0-9]+)$`, "m").exec(text)?.[1] ?? 0);
}
