/** Puts of another user in another namespace at a steady rate. A put counts from when it was due. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { percentile } from "../measuring/index.ts";

const PROCESS = fileURLToPath(new URL("puts-process.ts", import.meta.url));

export interface PutsTarget {
  readonly endpoints: readonly string[];
  readonly namespace: string;
  readonly token: string;
  readonly intervalMs: number;
}

export interface PutDelays {
  readonly count: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

interface TimedPut {
  /** In milliseconds since 1970. */
  readonly dueMs: number;
  readonly tookMs: number;
  readonly failed: number;
}

export class SteadyPuts {
  readonly #child: ChildProcess;
  readonly #puts: TimedPut[] = [];

  private constructor(target: PutsTarget) {
    const child = spawn(process.execPath, [PROCESS], { stdio: ["pipe", "pipe", "inherit"] });
    child.stdin.write(`${JSON.stringify(target)}\n`);
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [dueMs = 0, tookMs = 0, failed = 0] = line.split(" ").map(Number);
      this.#puts.push({ dueMs, tookMs, failed });
    });
    this.#child = child;
  }

  /** Resolves when the first put was answered. */
  static async start(target: PutsTarget): Promise<SteadyPuts> {
    const puts = new SteadyPuts(target);
    const { stdout } = puts.#child;
    if (stdout !== null) {
      await Promise.race([once(stdout, "data"), once(puts.#child, "exit")]);
    }
    puts.assertRunning();
    return puts;
  }

  assertRunning(): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
      throw new Error("the process of the other user's puts has ended");
    }
  }

  /** The puts that were due in this time, in milliseconds of `performance.now()`. */
  between(fromMs: number, toMs: number): PutDelays {
    const [from, to] = [performance.timeOrigin + fromMs, performance.timeOrigin + toMs];
    return delaysOf(this.#puts.filter(({ dueMs }) => dueMs >= from && dueMs < to));
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.stdin?.end();
      await once(this.#child, "exit");
    }
  }
}

function delaysOf(puts: readonly TimedPut[]): PutDelays {
  const ascending = Float64Array.from(puts, ({ tookMs }) => tookMs).sort();
  return {
    count: puts.length,
    failed: puts.reduce((sum, { failed }) => sum + failed, 0),
    p50Ms: percentile(ascending, 50),
    p99Ms: percentile(ascending, 99),
    maxMs: percentile(ascending, 100),
  };
}
