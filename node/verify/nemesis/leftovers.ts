/**
 * Removes everything that runs have created outside their own memory: processes, namespaces, links, mounts, control
 * groups, directories. It finds them by their names, so that nothing has to be stored. This happens at the end of a
 * run, at a signal, and, if a runner was killed, at the start of the next run.
 */

import { readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exists, until } from "../../test/harness/index.ts";
import { run, succeeds } from "./command.ts";
import { groupParents, removeGroups } from "./control-groups.ts";
import { RUN_VARIABLE, runnerOf } from "./run-name.ts";

/** Whether to remove what a runner has created; a runner is a process id. */
type Choice = (runner: number) => boolean;

/** Removes what runs without a running runner have left behind, and returns a line for each thing. */
export function removeLeftovers(): Promise<readonly string[]> {
  return removeTraces((runner) => !exists(runner));
}

/**
 * Removes everything that the chosen runners have created outside their own memory, and returns a line for each thing.
 * If something cannot be removed, it still removes the rest, and rejects afterwards.
 */
export async function removeTraces(isChosen: Choice): Promise<readonly string[]> {
  if (process.platform !== "linux") {
    return [];
  }
  const removed: string[] = [];
  const failures: unknown[] = [];
  const isRoot = process.getuid?.() === 0;
  const steps: readonly ((isTrace: (name: string) => boolean) => Promise<readonly string[]>)[] = [
    // A process that waits for a frozen disk cannot be killed before the disk is unmounted.
    ...(isRoot ? [removeMounts] : []),
    async () => endProcesses(isChosen),
    ...(isRoot ? [removeNetworks, removeControlGroups] : []),
    removeDirectories,
  ];
  for (const step of steps) {
    try {
      removed.push(...(await step((name) => isTraceOf(name, isChosen))));
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) {
    throw new AggregateError(failures, `not all could be removed: ${failures.map(String).join("; ")}`);
  }
  return removed;
}

async function removeNetworks(isTrace: (name: string) => boolean): Promise<string[]> {
  const removed: string[] = [];
  if (!(await succeeds("ip", ["-Version"]))) {
    return removed;
  }
  for (const { ifname } of JSON.parse(await run("ip", ["-json", "link", "show"]))) {
    // A cable may have been removed with its namespace since it was listed.
    if (isTrace(ifname) && (await succeeds("ip", ["link", "delete", ifname]))) {
      removed.push(`link ${ifname}`);
    }
  }
  for (const line of (await run("ip", ["netns", "list"])).split("\n")) {
    const [name = ""] = line.split(" ");
    if (isTrace(name)) {
      await run("ip", ["netns", "delete", name]);
      removed.push(`namespace ${name}`);
    }
  }
  return removed;
}

async function removeMounts(isTrace: (name: string) => boolean): Promise<string[]> {
  const removed: string[] = [];
  // The newest first, because they may be mounted on the others.
  for (const line of readFileSync("/proc/self/mounts", "utf8").split("\n").reverse()) {
    const [, path = ""] = line.split(" ");
    if (isTrace(path)) {
      await succeeds("fsfreeze", ["--unfreeze", path]);
      await run("umount", ["--lazy", path]);
      removed.push(`mount ${path}`);
    }
  }
  return removed;
}

async function removeControlGroups(isTrace: (name: string) => boolean): Promise<string[]> {
  const runners = new Set(groupParents().filter(isTrace).map(runnerOf));
  for (const runner of runners) {
    if (runner !== null) {
      // Its processes were killed, but take a moment to end.
      await until("control groups to be empty", () => removeGroups(runner));
    }
  }
  return [...runners].map((runner) => `control groups of ${runner}`);
}

async function removeDirectories(isTrace: (name: string) => boolean): Promise<string[]> {
  const names = readdirSync(tmpdir()).filter(isTrace);
  for (const name of names) {
    rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
  return names.map((name) => `directory ${name}`);
}

function isTraceOf(name: string, isChosen: Choice): boolean {
  const runner = runnerOf(name);
  return runner !== null && isChosen(runner);
}

/** Kills the processes that have the mark of a chosen runner; returns a line for each. */
function endProcesses(isChosen: Choice): string[] {
  const mark = new RegExp(`(?:^|\0)${RUN_VARIABLE}=([0-9]+)(?:\0|$)`);
  const ended: string[] = [];
  for (const id of readdirSync("/proc").map(Number)) {
    const runner = Number.isInteger(id) && id !== process.pid ? mark.exec(environmentOf(id))?.[1] : undefined;
    if (runner !== undefined && isChosen(Number(runner)) && exists(id)) {
      process.kill(id, "SIGKILL");
      ended.push(`process ${id}`);
    }
  }
  return ended;
}

/** The environment of a process; "" if it has ended, or belongs to another user and so to no run. */
function environmentOf(id: number): string {
  try {
    return readFileSync(`/proc/${id}/environ`, "utf8");
  } catch (error) {
    if (
      error instanceof Error &&
      "code" in error &&
      ["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(String(error.code))
    ) {
      return "";
    }
    throw error;
  }
}
