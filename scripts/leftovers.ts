/**
 * Finds processes and files that tests left behind.
 *
 * On Linux a process counts if its environment contains the marker of the run, even if its parent is gone. On other
 * systems a process counts if it descends from the given process. This module removes nothing by itself.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** The environment variable that marks every process of a test run. */
export const RUN_VARIABLE = "QUOIN_TEST_RUN";

/** A process that should have ended. */
export interface LeftProcess {
  readonly id: number;
  readonly command: string;
}

/**
 * @param run the value of RUN_VARIABLE in the processes to find
 * @param ancestorId the process whose descendants count, without itself; undefined if it has ended, when only Linux can
 * find them
 */
export function findProcesses(run: string, ancestorId: number | undefined): LeftProcess[] {
  if (process.platform === "linux") {
    return findMarked(run);
  }
  return ancestorId === undefined ? [] : findDescendants(ancestorId);
}

/** Kills the processes; some may have ended already. */
export function killProcesses(processes: readonly LeftProcess[]): void {
  for (const { id } of processes) {
    try {
      process.kill(id, "SIGKILL");
    } catch (error) {
      if (!isErrorCode(error, "ESRCH")) {
        throw error;
      }
    }
  }
}

/** @returns a line for the user */
export function describeProcess({ id, command }: LeftProcess): string {
  return `process ${id}: ${command}`;
}

/** @returns the entries of a folder, which the tests should have removed */
export function findFiles(folder: string): string[] {
  return readdirSync(folder);
}

function findMarked(run: string): LeftProcess[] {
  const marker = `${RUN_VARIABLE}=${run}`;
  const found: LeftProcess[] = [];
  for (const entry of readdirSync("/proc")) {
    const id = Number(entry);
    if (!Number.isInteger(id) || id === process.pid) {
      continue;
    }
    // An ended process whose parent has not reaped it has an empty environment, so it does not count.
    if (readProcessFile(id, "environ").split("\0").includes(marker)) {
      found.push({ id, command: readProcessFile(id, "cmdline").replaceAll("\0", " ").trim() });
    }
  }
  return found;
}

/** @returns the content; "" if the process has ended, or belongs to another user and so is not ours */
function readProcessFile(id: number, name: string): string {
  try {
    return readFileSync(`/proc/${id}/${name}`, "utf8");
  } catch (error) {
    if (isErrorCode(error, "ENOENT", "ESRCH", "EACCES", "EPERM")) {
      return "";
    }
    throw error;
  }
}

function isErrorCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

function findDescendants(ancestorId: number): LeftProcess[] {
  const output = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat=,command="], { encoding: "utf8" });
  const all = output.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line);
    const [, id, parentId, state, command] = match ?? [];
    const counts = id !== undefined && command !== undefined && state?.startsWith("Z") === false;
    return counts ? [{ id: Number(id), parentId: Number(parentId), command }] : [];
  });
  const family = new Set([ancestorId]);
  const found: LeftProcess[] = [];
  let size = 0;
  while (size !== family.size) {
    size = family.size;
    for (const { id, parentId, command } of all) {
      // The `ps` that made the list is a child too.
      if (family.has(parentId) && !family.has(id) && !command.startsWith("ps -A")) {
        family.add(id);
        found.push({ id, command });
      }
    }
  }
  return found;
}
