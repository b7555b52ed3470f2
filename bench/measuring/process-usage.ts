/** The resources that a process has used so far, from /proc, and those of the whole machine. */

import { readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";

export interface ProcessUsage {
  /** User and system time, in milliseconds. */
  readonly cpuMs: number;
  /** User and system time of its first thread, in milliseconds. In Node, this thread runs the event loop. */
  readonly mainThreadCpuMs: number;
  /** Resident set now and its maximum so far, in bytes. */
  readonly residentBytes: number;
  readonly memoryBytesMax: number;
  readonly threads: number;
  /** Open file descriptors. */
  readonly descriptors: number;
}

/** USER_HZ of Linux on every architecture that the member runs on. */
const MS_PER_CLOCK_TICK = 10;
const UTIME_FIELD = 11;
const STIME_FIELD = 12;
const BYTES_PER_KB = 1024;
/** Codes of errors about a process that has ended, perhaps while it was read. */
const GONE: ReadonlySet<string> = new Set(["ENOENT", "ESRCH"]);

/** The usage of the process; null on a system without /proc. */
export function usageOf(pid: number): ProcessUsage | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const fieldOf = (name: string) => Number(new RegExp(`^${name}:\\s+([0-9]+)`, "m").exec(status)?.[1] ?? 0);
    return {
      cpuMs: cpuMsIn(`/proc/${pid}/stat`),
      mainThreadCpuMs: cpuMsIn(`/proc/${pid}/task/${pid}/stat`),
      residentBytes: fieldOf("VmRSS") * BYTES_PER_KB,
      memoryBytesMax: fieldOf("VmHWM") * BYTES_PER_KB,
      threads: fieldOf("Threads"),
      descriptors: readdirSync(`/proc/${pid}/fd`).length,
    };
  } catch (error) {
    if (error instanceof Error && "code" in error && GONE.has(String(error.code))) {
      return null;
    }
    throw error;
  }
}

function cpuMsIn(statFile: string): number {
  // The name of the command is in parentheses and may contain spaces, so fields count from after it.
  const fields = readFileSync(statFile, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[UTIME_FIELD]) + Number(fields[STIME_FIELD])) * MS_PER_CLOCK_TICK;
}

/** CPU time that the whole machine has used so far, in milliseconds. */
export function machineCpuMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
}
