/**
 * The use of resources by a member under attack, and its reports: memory, processor time, metrics, lines of its log.
 * Linux only.
 */
import { readFileSync } from "node:fs";
import { pause } from "../../harness/index.ts";

const SAMPLE_MS = 100;
const KIBIBYTES = 1_024;
/**
 * Indexes of utime and stime in /proc/PID/stat, in hundredths of a second, counted after the name, which may have
 * spaces.
 */
const USER_TIME_AT = 11;
const TICKS_PER_SECOND = 100;

/** Values by the name of their metric with its labels, as Prometheus reads it. */
export type Metrics = ReadonlyMap<string, number>;

export async function readMetrics(health: string): Promise<Metrics> {
  const text = await (await fetch(`http://${health}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
  );
}

/** Resident memory in MiB. */
export function memoryMebibytes(pid: number): number {
  const [, kibibytes = "NaN"] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) / KIBIBYTES;
}

/** Seconds of processor time. */
export function processorSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[USER_TIME_AT]) + Number(fields[USER_TIME_AT + 1])) / TICKS_PER_SECOND;
}

/** Samples the memory of a process until it is stopped. */
export class MemoryWatch {
  readonly #pid: number;
  #isStopped = false;
  peakMebibytes: number;

  constructor(pid: number) {
    this.peakMebibytes = memoryMebibytes(pid);
    this.#pid = pid;
    void this.#look();
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #look(): Promise<void> {
    while (!this.#isStopped) {
      try {
        this.peakMebibytes = Math.max(this.peakMebibytes, memoryMebibytes(this.#pid));
      } catch {
        // The process has ended, which other code notices.
        return;
      }
      await pause(SAMPLE_MS);
    }
  }
}

/** A line of the member's log about a connection that it has closed. */
export interface ClosureLine {
  readonly reason: string;
  readonly address: string;
  /** When it was logged, in the form of RFC 3339. */
  readonly time: string;
}

export function closureLines(log: string): ClosureLine[] {
  return log
    .split("\n")
    .filter((line) => line.includes("a connection was closed because of what its client did"))
    .map((line) => JSON.parse(line) as ClosureLine);
}
