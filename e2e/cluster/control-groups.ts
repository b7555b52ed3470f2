/**
 * The control groups of a cluster: in each mounted hierarchy, one for processes outside of pods, and one for the pods
 * of each node. They identify every process of a cluster, whichever process started it and however its parent ended.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sendSignal } from "./signals.ts";
import { until } from "./until.ts";

const EMPTY_LIMIT_MS = 30_000;
/** Without them, a group of this controller admits no process. */
const CPUSET_FILES = ["cpuset.cpus", "cpuset.mems"];
/** Controllers that a kubelet needs in version 2, as far as the system has them. */
const CONTROLLERS_V2 = ["cpuset", "cpu", "io", "memory", "hugetlb", "pids"];

/** Files for weights in version 1 and version 2, and the value that stands for 1. */
const WEIGHT_FILES: Readonly<Record<string, number>> = { "cpu.shares": 1024, "cpu.weight": 100 };

/** A mounted hierarchy. */
export interface Hierarchy {
  readonly directory: string;
  readonly version: 1 | 2;
}

/** Hierarchies in the text of /proc/self/mounts. That of version 2 counts only if it has controllers. */
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
 * Makes a group, and its parents, in each hierarchy, ready for processes or pod groups.
 *
 * @param weight share of busy processors compared with sibling groups. A group without a weight, or a process outside
 * of groups, has 1. A group counts as one, however many processes it has.
 */
export function makeGroup(group: string, weight = 1): void {
  for (const { directory, version } of hierarchies()) {
    let above = directory;
    for (const part of group.split("/")) {
      if (version === 2) {
        enableControllers(above);
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

/** Enables a group's controllers for its children. */
function enableControllers(directory: string): void {
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

/** The files of a group in all hierarchies. A process joins the group by writing its id to them. */
export function entrancesOf(group: string): string[] {
  return hierarchies().map(({ directory }) => join(directory, group, "cgroup.procs"));
}

/** Ids of all processes in a group and its descendants. */
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

/** Kills all processes in a group and its descendants until none is left, and removes the groups. */
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
    // Its last process has ended, but has not disappeared yet.
    if (isCode(error, "EBUSY")) {
      return false;
    }
    if (isCode(error, "ENOENT")) {
      return true;
    }
    throw error;
  }
}

/** A group directory and its descendants, parents first; empty if the directory does not exist. */
export function groupsBelow(directory: string): string[] {
  const names = namesBelow(directory);
  return names === null ? [] : [directory, ...names.flatMap((name) => groupsBelow(join(directory, name)))];
}

/** Names of the subdirectories; null if the directory is gone, because running processes remove groups, too. */
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

/** The content of a file of a group; empty if the group has been removed meanwhile. */
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
