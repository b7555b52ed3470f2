/**
 * Machine-wide changes of clusters: kernel settings of the kubelets, the limit of file watches, and directories at
 * fixed paths. When the last cluster of the machine is removed, all of it is restored.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ALL_SITES, writeWhole } from "./site.ts";

const INOTIFY_INSTANCES = "fs/inotify/max_user_instances";
/** A cluster needs about forty, all of root. Linux allows root 128, which is not enough for four clusters. */
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
  /** Directories that did not exist before. */
  readonly directories: readonly string[];
}

/**
 * Creates missing directories, and raises the limit of file watches. First saves the original state, unless another
 * cluster has done so.
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

/** Restores everything if no cluster is left. */
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
    // Another program may use it by now.
    if (existsSync(path) && readdirSync(path).length === 0) {
      rmdirSync(path);
    }
  }
  rmSync(FILE);
  rmdirSync(ALL_SITES);
}
