/**
 * Control groups, by which a member gets little of the processor or of the memory: of version 2 or of version 1,
 * whichever the system has.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../test/harness/index.ts";
import { groupsOf } from "./run-name.ts";

const ROOT = "/sys/fs/cgroup";
/** The shares of time are dealt out anew after so many microseconds. */
const PERIOD_MICROSECONDS = 100_000;
const UNLIMITED_V1 = "-1";
/** A command that puts itself into the groups before "--" and turns into the command behind it. */
const ENTER = 'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 1; shift; done; shift; exec "$@"';

/** 2 or 1: what can be used here; null = neither. */
export type GroupVersion = 2 | 1;

/** Directories of the groups of one run, one for each controller in version 1, and one for all in version 2. */
function parentsOf(version: GroupVersion, runner: number): { readonly cpu: string; readonly memory: string } {
  const name = groupsOf(runner);
  return version === 2
    ? { cpu: join(ROOT, name), memory: join(ROOT, name) }
    : { cpu: join(ROOT, "cpu", name), memory: join(ROOT, "memory", name) };
}

/** Which version can be used here, found out by making a group. Leaves nothing. */
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

/** Removes the groups of a run; false as long as one of them holds a process. */
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

/** Parents of groups that runs have made, as paths. */
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

  /** Makes the group of a member. Raises the error of the system if that cannot be. */
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
      // What is missing here is not to be noticed in the middle of a fault.
      processesIn(directory);
    }
    readFileSync(this.#cpuLimit);
    readFileSync(this.#memoryLimit);
  }

  /** Puts a command, which follows it, into the group, and turns into it. */
  get through(): readonly string[] {
    return ["sh", "-c", ENTER, "sh", ...this.#directories, "--"];
  }

  /** Gives its processes together so much of one processor's time, in percent; null = all they want. */
  limitCpu(percent: number | null): void {
    const quota = percent === null ? null : Math.round((PERIOD_MICROSECONDS * percent) / 100);
    if (this.#version === 2) {
      writeFileSync(this.#cpuLimit, `${quota ?? "max"} ${PERIOD_MICROSECONDS}`);
    } else {
      writeFileSync(this.#cpuLimit, String(quota ?? UNLIMITED_V1));
    }
  }

  /** How often its processes had to stop for having used up their time. */
  get throttled(): number {
    return numberOf(readFileSync(join(this.#cpu, "cpu.stat"), "utf8"), "nr_throttled");
  }

  /** Lets it have so many bytes of memory, what was read from disks included; null = all they want. */
  limitMemory(bytes: number | null): void {
    writeFileSync(this.#memoryLimit, bytes === null ? (this.#version === 2 ? "max" : UNLIMITED_V1) : String(bytes));
  }

  /** Memory in use, in bytes. */
  get memoryBytes(): number {
    const file = this.#version === 2 ? "memory.current" : "memory.usage_in_bytes";
    return Number(readFileSync(join(this.#memory, file), "utf8"));
  }

  /** How often the limit was met, so that memory had to be given back first, or a process had to go. */
  get memoryRefused(): number {
    return this.#version === 2
      ? numberOf(readFileSync(join(this.#memory, "memory.events"), "utf8"), "max")
      : Number(readFileSync(join(this.#memory, "memory.failcnt"), "utf8"));
  }

  /** Removes it as soon as the last process has left it. */
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

/** The number behind a name in a file of names and numbers, a pair a line. */
function numberOf(text: string, name: string): number {
  return Number(new RegExp(`^${name} ([0-9]+)$`, "m").exec(text)?.[1] ?? 0);
}
