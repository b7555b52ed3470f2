/**
 * Makes runs in several processes. Reports come in the order of the seeds, even if a later seed is done first.
 *
 * A process that dies is the failure of the seed that it ran. All processes end when the caller requests no more
 * reports, and when this process ends; on a signal, after `stopOnSignals`. Their temporary files are removed too: a
 * killed process cannot remove its own.
 */

import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import path from "node:path";
import { repeatSeed, type SeedReport } from "./seed-run.ts";

const PROGRAM = path.join(import.meta.dirname, "seed-process.ts");
/** Seeds for each process that begin before the report of the oldest is due: so a slow seed delays few others. */
const AHEAD = 8;

/** The runs to make, and how. */
export interface SeedOrder {
  readonly first: number;
  readonly count: number;
  readonly isShrunk: boolean;
}

interface Waiting {
  readonly seed: number;
  readonly resolve: (report: SeedReport) => void;
}

/** Live processes of all orders, and the folders of their temporary files. */
const living = new Set<ChildProcess>();
const folders = new Set<string>();

/** The reports of all seeds, from `jobs` processes. */
export async function* runInProcesses({ first, count, isShrunk }: SeedOrder, jobs: number): AsyncGenerator<SeedReport> {
  const processes = new SeedProcesses(Math.min(jobs, count), isShrunk ? ["--shrink"] : []);
  const begun: Promise<SeedReport>[] = [];
  try {
    for (let seed = first; seed < first + count || begun.length > 0; seed++) {
      if (seed < first + count) {
        begun.push(processes.run(seed));
      }
      if (begun.length >= AHEAD * jobs || seed >= first + count - 1) {
        yield (await begun.shift()) as SeedReport;
      }
    }
  } finally {
    await processes.end();
  }
}

/** From now on, a signal that ends this process also ends the others. */
export function stopOnSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      for (const child of living) {
        child.kill("SIGKILL");
      }
      // A process may add a file while it is being killed, so the removal is retried.
      for (const folder of folders) {
        removeFolder(folder);
      }
      process.exit(128 + constants.signals[signal]);
    });
  }
}

class SeedProcesses {
  readonly #most: number;
  readonly #args: readonly string[];
  readonly #idle = new Set<ChildProcess>();
  readonly #all = new Set<ChildProcess>();
  readonly #queue: Waiting[] = [];
  readonly #busy = new Map<ChildProcess, Waiting>();
  readonly #temporary = mkdtempSync(path.join(tmpdir(), "quoin-test-seeds-"));

  constructor(most: number, args: readonly string[]) {
    this.#most = most;
    this.#args = args;
    folders.add(this.#temporary);
  }

  run(seed: number): Promise<SeedReport> {
    return new Promise((resolve) => {
      this.#queue.push({ seed, resolve });
      this.#next();
    });
  }

  /** Resolves when all are gone. */
  async end(): Promise<void> {
    const gone = [...this.#all].map((child) => new Promise((resolve) => child.once("exit", resolve)));
    this.#queue.length = 0;
    this.#busy.clear();
    for (const child of this.#all) {
      child.kill("SIGKILL");
    }
    await Promise.all(gone);
    removeFolder(this.#temporary);
  }

  /** Gives the oldest waiting seed to a free process, if there are both. */
  #next(): void {
    if (this.#queue.length === 0) {
      return;
    }
    const [idle] = this.#idle;
    const child = idle ?? (this.#all.size < this.#most ? this.#start() : undefined);
    const waiting = child === undefined ? undefined : this.#queue.shift();
    if (child !== undefined && waiting !== undefined) {
      this.#idle.delete(child);
      this.#busy.set(child, waiting);
      child.send(waiting.seed);
    }
  }

  #start(): ChildProcess {
    const args = [...this.#args, "--temporary", this.#temporary];
    const child = fork(PROGRAM, args, { serialization: "advanced" });
    this.#all.add(child);
    living.add(child);
    child.on("message", (report) => {
      this.#idle.add(child);
      this.#resolve(child, report as SeedReport);
    });
    child.on("error", (error) => this.#onEnd(child, error.message));
    child.on("exit", (code, signal) => this.#onEnd(child, signal === null ? `exit code ${code}` : signal));
    return child;
  }

  /** It has ended, did not start, or cannot be reached. */
  #onEnd(child: ChildProcess, how: string): void {
    child.kill("SIGKILL");
    living.delete(child);
    this.#all.delete(child);
    this.#idle.delete(child);
    const seed = this.#busy.get(child)?.seed;
    if (seed !== undefined) {
      this.#resolve(child, reportOfDeath(seed, how));
    }
  }

  #resolve(child: ChildProcess, report: SeedReport): void {
    const waiting = this.#busy.get(child);
    this.#busy.delete(child);
    waiting?.resolve(report);
    this.#next();
  }
}

function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  folders.delete(folder);
}

function reportOfDeath(seed: number, how: string): SeedReport {
  const words = [`FAIL a run ends`, `seed ${seed}  its process ended before it: ${how}`, `repeat  ${repeatSeed(seed)}`];
  return { seed, isFailed: true, words: words.join("\n"), traceHash: "", checkpoints: [], tally: null };
}
