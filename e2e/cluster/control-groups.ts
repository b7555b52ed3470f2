/**
 * The control groups of a cluster: one for what is not in pods, and one for the pods of each node, in each hierarchy that
 * is mounted. By them everything that belongs to a cluster is found, whoever started it and however its parent ended.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sendSignal } from "./signals.ts";
import { until } from "./until.ts";

const EMPTY_LIMIT_MS = 30_000;
/** Without them a group of this controller takes no process. */
const CPUSET_FILES = ["cpuset.cpus", "cpuset.mems"];
/** What a kubelet wants to find in version 2, as far as the system has it. */
const CONTROLLERS_V2 = ["cpuset", "cpu", "io", "memory", "hugetlb", "pids"];

/** How version 1 and version 2 take weights, and the number that stands for 1. */
const WEIGHT_FILES: Readonly<Record<string, number>> = { "cpu.shares": 1024, "cpu.weight": 100 };

/** A mounted hierarchy. */
export interface Hierarchy {
  readonly directory: string;
  readonly version: 1 | 2;
}

/** Hierarchies in the text of /proc/self/mounts. The one of version 2 counts only if it has controllers. */
export function parseHierarchies(mounts: string, hasControllers: (directory: string) => boolean): Hierarchy[] {
  const found: Hierarchy[] = [];
  for (const line of mounts.split("\n")) {
    const [, directory = "", type] = line.split(" ");
    if (type === "cgroup") {
      found.push({ directory, version: 1 });
    } else if (type === "cgroup2" && hasControllers(directory)) {
      found.push({ directory, version: 2 });
    }
  }
  return found;
}

function hierarchies(): Hierarchy[] {
  return parseHierarchies(
    readFileSync("/proc/self/mounts", "utf8"),
    (directory) => readFileSync(join(directory, "cgroup.controllers"), "utf8").trim() !== "",
  );
}

/**
 * Makes a group, and those above it, in each hierarchy, ready to take processes or groups of pods.
 *
 * @param weight how much of busy processors the group gets, compared with its neighbours: a group that nobody has given
 *   a weight, or a process in none, has 1. A group counts as one, however many processes it has.
 */
export function makeGroup(group: string, weight = 1): void {
  for (const { directory, version } of hierarchies()) {
    let above = directory;
    for (const part of group.split("/")) {
      if (version === 2) {
        passOn(above);
      }
      const path = join(above, part);
      mkdirSync(path, { recursive: true });
      copyCpuset(above, path);
      above = path;
    }
    for (const [name, neutral] of Object.entries(WEIGHT_FILES)) {
      if (existsSync(join(above, name))) {
        writeFileSync(join(above, name), String(neutral * weight));
      }
    }
  }
}

/** Lets the groups below one have its controllers. */
function passOn(directory: string): void {
  const offered = new Set(readFileSync(join(directory, "cgroup.controllers"), "utf8").trim().split(" "));
  for (const controller of CONTROLLERS_V2.filter((one) => offered.has(one))) {
    writeFileSync(join(directory, "cgroup.subtree_control"), `+${controller}`);
  }
}

function copyCpuset(from: string, to: string): void {
  for (const name of CPUSET_FILES) {
    const [source, target] = [join(from, name), join(to, name)];
    if (existsSync(source) && existsSync(target) && readFileSync(target, "utf8").trim() === "") {
      writeFileSync(target, readFileSync(source, "utf8"));
    }
  }
}

/** The files to which a process writes its id to be in a group, in all hierarchies. */
export function entrancesOf(group: string): string[] {
  return hierarchies().map(({ directory }) => join(directory, group, "cgroup.procs"));
}

/** Ids of all processes in a group and in those below it. */
export function processesIn(group: string): number[] {
  const found = new Set<number>();
  for (const { directory } of hierarchies()) {
    for (const path of groupsBelow(join(directory, group))) {
      for (const id of read(join(path, "cgroup.procs")).split("\n")) {
        if (id !== "") {
          found.add(Number(id));
        }
      }
    }
  }
  return [...found];
}

/** Kills everything in a group and in those below it until nothing is left, and removes them. */
export async function removeGroup(group: string): Promise<void> {
  await until(
    `the processes of ${group} to end`,
    () => {
      const left = processesIn(group);
      for (const id of left) {
        sendSignal(id, "SIGKILL");
      }
      return left.length === 0;
    },
    EMPTY_LIMIT_MS,
  );
  for (const { directory } of hierarchies()) {
    // The deepest first.
    for (const path of groupsBelow(join(directory, group)).reverse()) {
      await until(`${path} to be removable`, () => isRemoved(path), EMPTY_LIMIT_MS);
    }
  }
}

function isRemoved(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    // Its last process has ended, but is not gone yet.
    if (isCode(error, "EBUSY")) {
      return false;
    }
    if (isCode(error, "ENOENT")) {
      return true;
    }
    throw error;
  }
}

/** A directory of groups and all below it, each before those that it contains; none if there is no such directory. */
export function groupsBelow(directory: string): string[] {
  const names = namesBelow(directory);
  return names === null ? [] : [directory, ...names.flatMap((name) => groupsBelow(join(directory, name)))];
}

/** Names of the directories in one; null if it is gone: those who are still at work remove groups, too. */
function namesBelow(directory: string): string[] | null {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (isCode(error, "ENOENT") || isCode(error, "ENODEV")) {
      return null;
    }
    throw error;
  }
}

/** The content of a file of a group; nothing if the group has gone meanwhile. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (isCode(error, "ENOENT") || isCode(error, "ENODEV")) {
      return "";
    }
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
