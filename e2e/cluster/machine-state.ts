/**
 * What clusters change of this machine for all of it: settings of the kernel that every kubelet makes, how many watches of
 * files there may be, and directories under paths that nobody can choose. All of it is put back when the last cluster of
 * the machine is removed.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ALL_SITES, writeWhole } from "./site.ts";

const INOTIFY_INSTANCES = "fs/inotify/max_user_instances";
/** A cluster takes some forty, all of root's, of whom Linux lets there be 128: not enough for four clusters. */
const INOTIFY_INSTANCES_MIN = 1_024;
const SETTINGS = [
  INOTIFY_INSTANCES,
  "kernel/keys/root_maxbytes",
  "kernel/keys/root_maxkeys",
  "kernel/panic",
  "kernel/panic_on_oops",
  "vm/overcommit_memory",
  "vm/panic_on_oom",
];
const FILE = join(ALL_SITES, "machine.json");

interface MachineState {
  /** By path. */
  readonly settings: Readonly<Record<string, string>>;
  /** Which were not there. */
  readonly directories: readonly string[];
}

/**
 * Makes the directories that are missing and room for the watches of files, after having remembered how everything was,
 * unless another cluster has.
 */
export function prepareMachine(directories: readonly string[]): void {
  if (!existsSync(FILE)) {
    const present = SETTINGS.map((name) => join("/proc/sys", name)).filter((path) => existsSync(path));
    const state: MachineState = {
      settings: Object.fromEntries(present.map((path) => [path, readFileSync(path, "utf8")])),
      directories: directories.filter((path) => !existsSync(path)),
    };
    writeWhole(FILE, JSON.stringify(state));
  }
  for (const path of directories) {
    mkdirSync(path, { recursive: true });
  }
  const instances = join("/proc/sys", INOTIFY_INSTANCES);
  if (Number(readFileSync(instances, "utf8")) < INOTIFY_INSTANCES_MIN) {
    writeFileSync(instances, String(INOTIFY_INSTANCES_MIN));
  }
}

/** Puts everything back if no cluster is left. */
export function restoreMachine(): void {
  if (!existsSync(FILE) || readdirSync(ALL_SITES, { withFileTypes: true }).some((entry) => entry.isDirectory())) {
    return;
  }
  const { settings, directories }: MachineState = JSON.parse(readFileSync(FILE, "utf8"));
  for (const [path, value] of Object.entries(settings)) {
    if (readFileSync(path, "utf8") !== value) {
      writeFileSync(path, value);
    }
  }
  for (const path of directories) {
    // Somebody else may have come to use it.
    if (existsSync(path) && readdirSync(path).length === 0) {
      rmdirSync(path);
    }
  }
  rmSync(FILE);
  rmdirSync(ALL_SITES);
}
