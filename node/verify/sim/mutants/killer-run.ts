/**
 * Runs a killer in a process of its own, with the mutant or without, and returns the result.
 *
 * Each run has a time limit, a process group and a folder for temporary files. Nothing of it is left afterwards. Runs
 * share compiled code if NODE_COMPILE_CACHE names a folder. Node uses it only for the same source, so a module with a
 * mutant in it never gets the code of the module without it.
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
import type { SpecReport } from "./spec-report.ts";

/** The result of a run; `isInPlace`: its process has loaded the mutant. */
export type Verdict = SpecReport & { readonly isInPlace: boolean; readonly durationMs: number };

const SPEC_PROCESS = path.join(import.meta.dirname, "spec-process.ts");
const SIMULATOR = path.join(repositoryRoot, "node/verify/sim/main.ts");
const LOADER = pathToFileURL(path.join(import.meta.dirname, "loader.ts")).href;
/** Enough characters for the explanation of a failed seed, which comes at the end. */
const OUTPUT_MAX = 400;

/** Running processes, each with its folder for temporary files. */
const running = new Map<ChildProcess, string>();

/** Runs the killer with the mutant in place; null = without one. */
export function runKiller(killer: Killer, mutant: Mutant | null, limitMs: number): Promise<Verdict> {
  if ("seeds" in killer) {
    const [first, count] = killer.seeds;
    return runSeeds(first, count, mutant, limitMs);
  }
  return "scenario" in killer
    ? runSpecs([SCENARIOS_SPEC], { grep: titleOfScenario(killer.scenario) }, mutant, limitMs)
    : runSpecs([killer.spec], killer.grep === undefined ? {} : { grep: killer.grep }, mutant, limitMs);
}

/** Which tests of spec files run: those whose titles contain the text or match the expression, or all. */
export interface TestFilter {
  readonly grep?: string;
  readonly pattern?: string;
}

/** Runs spec files up to the first test that fails. */
export async function runSpecs(
  files: readonly string[],
  filter: TestFilter,
  mutant: Mutant | null,
  limitMs: number,
): Promise<Verdict> {
  const filters = Object.entries(filter).map(([name, value]) => `--${name}=${value}`);
  let report: SpecReport | null = null;
  const ended = await run([SPEC_PROCESS, ...filters, "--", ...files], mutant, limitMs, (message) => {
    report ??= message;
  });
  return { ...(report ?? { kind: "doubtful", why: ended.why }), ...about(ended) };
}

/** Runs seeds of the simulator up to the first that fails. */
async function runSeeds(first: number, count: number, mutant: Mutant | null, limitMs: number): Promise<Verdict> {
  const ended = await run(
    [SIMULATOR, "--quiet", "--jobs", "1", "--seed", String(first), "--seeds", String(count)],
    mutant,
    limitMs,
    () => undefined,
  );
  const rule = /^FAIL (.*)$/m.exec(ended.output)?.[1];
  const seed = /^seed (\d+) /m.exec(ended.output)?.[1];
  if (rule !== undefined && seed !== undefined) {
    return { kind: "failed", file: "", title: seed, rule, ...about(ended) };
  }
  const isPassed = ended.output.includes("every rule held");
  return { ...(isPassed ? { kind: "passed" } : { kind: "doubtful", why: ended.why }), ...about(ended) };
}

interface Ended {
  readonly output: string;
  readonly errors: string;
  /** How it ended, in words. */
  readonly why: string;
  readonly durationMs: number;
}

function about({ errors, durationMs }: Ended): Pick<Verdict, "isInPlace" | "durationMs"> {
  return { isInPlace: errors.includes(LOADED_LINE), durationMs };
}

async function run(
  args: readonly string[],
  mutant: Mutant | null,
  limitMs: number,
  onReport: (report: SpecReport) => void,
): Promise<Ended> {
  const startedMs = performance.now();
  const temporary = mkdtempSync(path.join(tmpdir(), "quoin-mutant-"));
  const child = spawn(process.execPath, args, {
    cwd: repositoryRoot,
    detached: true,
    // A bundle of a program has no mutant.
    env: { ...process.env, TMPDIR: temporary, [PROGRAMS_VARIABLE]: "", ...environmentOf(mutant) },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  running.set(child, temporary);
  child.on("message", (message) => onReport(message as SpecReport));
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    killGroup(child);
  }, limitMs);
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal === null ? `exit code ${code}` : `ended by ${signal}`));
  });
  const outputs = Promise.all([child.stdout, child.stderr].map((stream) => (stream === null ? "" : text(stream))));
  const how = await ended;
  clearTimeout(limit);
  // Processes that the tests have left run in the group, and keep the outputs open.
  killGroup(child);
  const [output = "", errors = ""] = await outputs;
  running.delete(child);
  rmSync(temporary, { recursive: true, force: true });
  const why = isLate ? `not done after ${limitMs / 1000} s` : `${how}: ${(errors || output).slice(-OUTPUT_MAX)}`;
  return { output, errors, why, durationMs: performance.now() - startedMs };
}

/** With a mutant every process and thread below loads it; without one, none does. */
function environmentOf(mutant: Mutant | null): Record<string, string> {
  const options = process.env.NODE_OPTIONS ?? "";
  return mutant === null
    ? {}
    : { NODE_OPTIONS: `${options} --import=${LOADER}`.trim(), [MUTANT_VARIABLE]: mutant.name };
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
      for (const [child, temporary] of running) {
        killGroup(child);
        rmSync(temporary, { recursive: true, force: true });
      }
      process.exit(128 + constants.signals[signal]);
    });
  }
}
