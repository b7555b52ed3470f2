/**
 * A command and the processes that it has started, to signal all of them and to wait for their end.
 *
 * Without a terminal the command leads a process group of its own. On a terminal it stays in the group of quoinctl:
 * otherwise it could not read from the terminal, and Ctrl-C and Ctrl-Z would not reach it. Its processes are then found by
 * their environment, on Linux. Other systems show only the command itself.
 *
 * A process that leaves the group, or clears its environment, is not found.
 */

import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export interface CommandProcesses {
  /** Sends a signal to every process that still runs. */
  signal(signal: NodeJS.Signals): void;
  /** Whether a process still runs. One that has ended, and that its parent has not noticed yet, does not. */
  areRunning(): boolean;
}

/** The group of a command that leads one. */
export function groupOf({ pid }: ChildProcess): CommandProcesses {
  return {
    signal: (signal) => {
      if (pid !== undefined) {
        signalProcess(-pid, signal);
      }
    },
    areRunning: () => {
      if (pid === undefined || !signalProcess(-pid, 0)) {
        return false;
      }
      const processes = listProcesses();
      return processes === null || processes.some((each) => isInGroup(each, pid));
    },
  };
}

/** The processes with all of these variables, which no other process has, and the command itself. */
export function processesWith(variables: Readonly<Record<string, string>>, child: ChildProcess): CommandProcesses {
  const marks = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const others = () => (listProcesses() ?? []).filter((pid) => pid !== child.pid && hasMarks(pid, marks));
  return {
    signal: (signal) => {
      child.kill(signal);
      for (const pid of others()) {
        signalProcess(pid, signal);
      }
    },
    areRunning: () => (child.exitCode === null && child.signalCode === null) || others().length > 0,
  };
}

/** Returns false if there is no such process. It does not raise an error for a process of another user. */
function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "ESRCH" && code !== "EPERM") {
      throw error;
    }
    return code === "EPERM";
  }
}

/** The ids of all processes; null if this system has no list in `/proc`. */
function listProcesses(): readonly number[] | null {
  if (process.platform !== "linux") {
    return null;
  }
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number);
}

function isInGroup(pid: number, group: number): boolean {
  // The name of the program, in parentheses, may contain anything. Behind it are the state, the parent and the group.
  const text = readOf(pid, "stat");
  const [state = "", , processGroup] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return Number(processGroup) === group && state !== "Z" && state !== "X";
}

function hasMarks(pid: number, marks: readonly string[]): boolean {
  const variables = new Set(readOf(pid, "environ").split("\0"));
  return marks.every((mark) => variables.has(mark));
}

/** Empty if the process has ended, or belongs to another user. */
function readOf(pid: number, file: "stat" | "environ"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error) {
      return "";
    }
    throw error;
  }
}
