/**
 * Runs a killer in a process of its own, with the mutant or without, and returns the result. `SpecProcess` runs many
 * one after the other, without the start of a process for each.
 *
 * Each run has a time limit, and each process a group and a folder for temporary files. Nothing of it is left
 * afterwards. Processes share compiled code if NODE_COMPILE_CACHE names a folder.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { PROGRAMS_VARIABLE } from "../../../../testing/index.ts";
import { type Killer, SCENARIOS_SPEC, titleOfScenario } from "./killer.ts";
import { type Mutant, repositoryRoot } from "./mutant.ts";
import { LOADED_LINE, MUTANT_VARIABLE } from "./mutant-variable.ts";
import type { SpecAnswer, SpecOrder, SpecReport, TestFilter } from "./spec-messages.ts";

/** The result of a run of the simulator; `isInPlace`: its process has loaded the mutant. */
type SeedVerdict = SpecReport & { readonly isInPlace: boolean };

const SPEC_PROCESS = path.join(import.meta.dirname, "spec-process.ts");
const SIMULATOR = path.join(repositoryRoot, "node/verify/sim/main.ts");
const LOADER = pathToFileURL(path.join(import.meta.dirname, "loader.ts")).href;
/** Enough characters for the explanation of a failed seed, which comes at the end. */
const OUTPUT_MAX = 400;
/** For the hooks of a test that has failed. A process that takes longer is replaced. */
const READY_LIMIT_MS = 2_000;

/** Running processes, each with its folder for temporary files. */
const running = new Map<ChildProcess, string>();

/** The tests of a killer that is part of a spec file. */
export function testsOf(killer: Exclude<Killer, { seeds: unknown }>): Pick<SpecOrder, "files" | "filter"> {
  if ("scenario" in killer) {
    return { files: [SCENARIOS_SPEC], filter: { grep: titleOfScenario(killer.scenario) } };
  }
  return { files: [killer.spec], filter: killer.grep === undefined ? {} : { grep: killer.grep } };
}

/** Runs the killer with the mutant in place; null = without one. */
export function runKiller(killer: Killer, mutant: Mutant | null, limitMs: number): Promise<SpecReport> {
  if ("seeds" in killer) {
    return runSeeds(killer.seeds, mutant, limitMs);
  }
  const { files, filter } = testsOf(killer);
  return runSpecs(files, filter, mutant, limitMs);
}

/** Runs spec files up to the first test that fails, in a process of their own. */
export async function runSpecs(
  files: readonly string[],
  filter: TestFilter,
  mutant: Mutant | null,
  limitMs: number,
): Promise<SpecReport> {
  const process = new SpecProcess();
  try {
    return await process.run({ mutant: mutant?.name ?? null, files, filter }, limitMs);
  } finally {
    await process.end();
  }
}

/** Runs seeds of the simulator, the first and their number, up to the first that fails. */
export async function runSeeds(
  [first, count]: readonly [number, number],
  mutant: Mutant | null,
  limitMs: number,
): Promise<SeedVerdict> {
  const args = [SIMULATOR, "--quiet", "--jobs", "1", "--seed", String(first), "--seeds", String(count)];
  const child = start(args, mutant === null ? {} : loading(mutant.name), "pipe");
  const limit = setTimeout(() => killGroup(child), limitMs);
  const [how, output, errors] = await Promise.all([ended(child), textOf(child.stdout), textOf(child.stderr)]);
  clearTimeout(limit);
  remove(child);
  const isInPlace = errors.includes(LOADED_LINE);
  const rule = /^FAIL (.*)$/m.exec(output)?.[1];
  const seed = /^seed (\d+) /m.exec(output)?.[1];
  if (rule !== undefined && seed !== undefined) {
    return { kind: "failed", file: "", title: seed, rule, isInPlace };
  }
  return output.includes("every rule held")
    ? { kind: "passed", isInPlace }
    : { kind: "doubtful", why: `${how}: ${(errors || output).slice(-OUTPUT_MAX)}`, isInPlace };
}

/** Runs tests in one process after another, one run at a time. */
export class SpecProcess {
  #child: ChildProcess | null = null;
  #runs = 0;
  /** The end of what the process and its children have printed as errors. */
  #errors = "";

  /** How many runs the present process has begun. */
  get runs(): number {
    return this.#runs;
  }

  /** Runs the tests of an order up to the first that fails. */
  async run(order: SpecOrder, limitMs: number): Promise<SpecReport> {
    if (this.#child?.connected === false) {
      // Something that an earlier run has left has ended it meanwhile.
      await this.end();
    }
    const child = this.#child ?? this.#start();
    this.#runs++;
    const report = Promise.withResolvers<SpecReport>();
    const ready = Promise.withResolvers<boolean>();
    const onMessage = (answer: unknown): void => {
      const message = answer as SpecAnswer;
      if ("report" in message) {
        report.resolve(message.report);
      } else {
        ready.resolve(true);
      }
    };
    const onEnd = (code: number | null, signal: string | null): void => {
      const how = signal === null ? `exit code ${code}` : `ended by ${signal}`;
      report.resolve({ kind: "doubtful", why: `${how}: ${this.#errors}` });
      ready.resolve(false);
    };
    child.on("message", onMessage).once("exit", onEnd);
    const limit = setTimeout(() => {
      report.resolve({ kind: "doubtful", why: `not done after ${limitMs / 1000} s` });
    }, limitMs);
    // If the process is gone, its end is the report.
    child.send(order, () => undefined);
    const result = await report.promise;
    clearTimeout(limit);
    const readyLimit = setTimeout(() => ready.resolve(false), READY_LIMIT_MS);
    const isReady = await ready.promise;
    clearTimeout(readyLimit);
    child.off("message", onMessage).off("exit", onEnd);
    if (!isReady) {
      await this.end();
    }
    return result;
  }

  #start(): ChildProcess {
    const child = start([SPEC_PROCESS], loading(""), "ipc");
    this.#child = child;
    this.#errors = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-OUTPUT_MAX);
    });
    return child;
  }

  /** Ends the process and what its tests have left. A later run starts another one. */
  async end(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    this.#runs = 0;
    if (child !== null) {
      const gone = ended(child);
      killGroup(child);
      await gone;
      child.stderr?.destroy();
      remove(child);
    }
  }
}

/** Starts a program of the repository in a process group, with a folder of its own for temporary files. */
function start(args: readonly string[], environment: Record<string, string>, channel: "pipe" | "ipc"): ChildProcess {
  const temporary = mkdtempSync(path.join(tmpdir(), "quoin-mutant-"));
  const child = spawn(process.execPath, args, {
    cwd: repositoryRoot,
    detached: true,
    // A bundle of a program has no mutant.
    env: { ...process.env, TMPDIR: temporary, [PROGRAMS_VARIABLE]: "", ...environment },
    stdio: channel === "ipc" ? ["ignore", "ignore", "pipe", "ipc"] : ["ignore", "pipe", "pipe"],
  });
  running.set(child, temporary);
  return child;
}

/** Resolves to how the process ended, in words. */
function ended(child: ChildProcess): Promise<string> {
  const { exitCode, signalCode } = child;
  if (exitCode !== null || signalCode !== null) {
    return Promise.resolve(`exit code ${exitCode}`);
  }
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => {
      // Processes that the tests have left run in the group, and keep the outputs open.
      killGroup(child);
      resolve(signal === null ? `exit code ${code}` : `ended by ${signal}`);
    });
  });
}

function remove(child: ChildProcess): void {
  killGroup(child);
  const temporary = running.get(child);
  running.delete(child);
  if (temporary !== undefined) {
    // A process of the group may add a file while it is being killed, so the removal is retried.
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function textOf(stream: ChildProcess["stdout"]): Promise<string> {
  return stream === null ? "" : await text(stream);
}

/** Every process and thread below loads this mutant; "" = none for now, and what the process names later. */
function loading(mutant: string): Record<string, string> {
  const options = process.env.NODE_OPTIONS ?? "";
  return { NODE_OPTIONS: `${options} --import=${LOADER}`.trim(), [MUTANT_VARIABLE]: mutant };
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) {
    return;
  }
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) {
      throw error;
    }
  }
}

/** From now on, a signal that ends this process also ends its children. */
export function stopOnSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      for (const child of running.keys()) {
        remove(child);
      }
      process.exit(128 + constants.signals[signal]);
    });
  }
}
