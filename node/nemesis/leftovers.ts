/**
 * Removes what runs have left behind whose runner was killed: processes, namespaces, links, mounts, directories. What
 * belongs to a runner that still lives is not touched.
 */

import { readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exists } from "../test/harness/index.ts";
import { run, succeeds } from "./command.ts";
import { RUN_VARIABLE, runnerOf } from "./run-name.ts";

/** Removes it all, and returns a line for each thing. */
export async function removeLeftovers(): Promise<readonly string[]> {
  if (process.platform !== "linux") {
    return [];
  }
  const removed: string[] = [];
  if (process.getuid?.() === 0) {
    // What waits for a frozen disk cannot be ended before that goes.
    removed.push(...(await removeMounts()));
  }
  removed.push(...endProcesses((runner) => !exists(runner)));
  if (process.getuid?.() === 0) {
    removed.push(...(await removeNetworks()));
  }
  for (const name of readdirSync(tmpdir())) {
    if (isLeft(name)) {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
      removed.push(`directory ${name}`);
    }
  }
  return removed;
}

async function removeNetworks(): Promise<string[]> {
  const removed: string[] = [];
  if (!(await succeeds("ip", ["-Version"]))) {
    return removed;
  }
  for (const line of (await run("ip", ["netns", "list"])).split("\n")) {
    const [name = ""] = line.split(" ");
    if (isLeft(name)) {
      await run("ip", ["netns", "delete", name]);
      removed.push(`namespace ${name}`);
    }
  }
  for (const { ifname } of JSON.parse(await run("ip", ["-json", "link", "show"]))) {
    // A cable may have gone with its namespace since the list was made.
    if (isLeft(ifname) && (await succeeds("ip", ["link", "delete", ifname]))) {
      removed.push(`link ${ifname}`);
    }
  }
  return removed;
}

async function removeMounts(): Promise<string[]> {
  const removed: string[] = [];
  // The latest first: they are mounted on the others.
  for (const line of readFileSync("/proc/self/mounts", "utf8").split("\n").reverse()) {
    const [, path = ""] = line.split(" ");
    if (isLeft(path)) {
      await succeeds("fsfreeze", ["--unfreeze", path]);
      await run("umount", ["--lazy", path]);
      removed.push(`mount ${path}`);
    }
  }
  return removed;
}

function isLeft(name: string): boolean {
  const runner = runnerOf(name);
  return runner !== null && !exists(runner);
}

/** Ends the processes that carry the mark of a run, chosen by the process id of its runner; a line for each. */
export function endProcesses(isChosen: (runner: number) => boolean): string[] {
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
