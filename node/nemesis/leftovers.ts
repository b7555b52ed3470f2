/**
 * Removes what runs have made outside their own memory: processes, namespaces, links, mounts, control groups,
 * directories. All of it is found by its name, so that nothing needs to be remembered: at the end of a run, at a signal,
 * and when a runner was killed, by the next one.
 */

import { readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exists, until } from "../test/harness/index.ts";
import { run, succeeds } from "./command.ts";
import { groupParents, removeGroups } from "./control-groups.ts";
import { RUN_VARIABLE, runnerOf } from "./run-name.ts";

/** Whether what a runner has made is to go; a runner is a process id. */
type Choice = (runner: number) => boolean;

/** Removes what runs have left behind whose runner is no more, and returns a line for each thing. */
export function removeLeftovers(): Promise<readonly string[]> {
  return removeTraces((runner) => !exists(runner));
}

/**
 * Removes everything that the chosen runners have made outside their own memory, and returns a line for each thing.
 * Whatever cannot be removed does not keep it from removing the rest; it rejects afterwards.
 */
export async function removeTraces(isChosen: Choice): Promise<readonly string[]> {
  if (process.platform !== "linux") {
    return [];
  }
  const removed: string[] = [];
  const failures: unknown[] = [];
  const isRoot = process.getuid?.() === 0;
  const steps: readonly ((isTrace: (name: string) => boolean) => Promise<readonly string[]>)[] = [
    // What waits for a frozen disk cannot be ended before that goes.
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
    // A cable may have gone with its namespace since the list was made.
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
  // The latest first: they are mounted on the others.
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
      // Its processes were killed, but take a moment to go.
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

/** Ends the processes that carry the mark of a run, chosen by the process id of its runner; a line for each. */
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

/** The environment of a process; nothing if it has ended meanwhile, or is somebody else's and so not one of ours. */
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
