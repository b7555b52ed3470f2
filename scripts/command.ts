/**
 * Runs programs for the scripts of this folder: each in its own process group, with its output line by line.
 *
 * It kills a program that exceeds its limit, with its group. It kills all running programs when this process receives a
 * stop signal. It does not look for processes that left their group: see `leftovers.ts`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";

/** The root folder of the repository. */
export const repositoryRoot: string = path.dirname(import.meta.dirname);

const FLUSH_LIMIT_MS = 2_000; // For output that arrives after the program has ended.
const STOP_LIMIT_MS = 5_000; // Lets programs end their own children before this kills them.

/** The program to run, and its time limit. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Milliseconds after which the process group is killed. */
  readonly limitMs: number;
  /** Receives each line of standard output and standard error, without its end. */
  readonly onLine: (line: string) => void;
}

/** How a program ended. */
export interface CommandResult {
  /** Undefined after success; otherwise a phrase such as "exit code 1". */
  readonly problem: string | undefined;
  readonly durationMs: number;
}

const running = new Set<ChildProcess>();

/**
 * Runs a program from the root of the repository, with the programs of node_modules first on its PATH.
 *
 * @returns the result; a program that cannot start is reported in the same way, not thrown
 */
export async function runCommand(command: Command): Promise<CommandResult> {
  const startedMs = performance.now();
  const binaries = path.join(repositoryRoot, "node_modules", ".bin");
  const child = spawn(command.program, command.args, {
    cwd: repositoryRoot,
    detached: true,
    env: { ...process.env, ...command.env, PATH: `${binaries}${path.delimiter}${process.env.PATH ?? ""}` },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  const outputEnded = Promise.all([readLines(child.stdout, command.onLine), readLines(child.stderr, command.onLine)]);
  let exceeded = false;
  const limit = setTimeout(() => {
    exceeded = true;
    signalGroup(child, "SIGKILL");
  }, command.limitMs);
  const problem = await new Promise<string | undefined>((resolve) => {
    child.once("error", (error) => resolve(`could not start ${command.program}: ${error.message}`));
    child.once("exit", (code, signal) => resolve(describeExit(code, signal)));
  });
  clearTimeout(limit);
  running.delete(child);
  // A process that the program left behind may keep its output open for ever.
  await Promise.race([outputEnded, delay(FLUSH_LIMIT_MS, undefined, { ref: false })]);
  child.stdout.destroy();
  child.stderr.destroy();
  const reason = exceeded ? `killed after ${command.limitMs / 1000} s` : problem;
  return { problem: reason, durationMs: performance.now() - startedMs };
}

function describeExit(code: number | null, signal: NodeJS.Signals | null): string | undefined {
  if (code === 0) {
    return undefined;
  }
  return signal === null ? `exit code ${code}` : `killed by ${signal}`;
}

function readLines(stream: Readable, onLine: (line: string) => void): Promise<void> {
  return new Promise((resolve) => {
    createInterface({ input: stream }).on("line", onLine).once("close", resolve);
  });
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) {
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) {
      throw error;
    }
  }
}

/**
 * From now on, SIGINT, SIGTERM and SIGHUP stop all running programs, and then run `cleanUp`. The process then ends with
 * the usual exit code, 128 plus the number of the signal.
 */
export function stopOnSignals(cleanUp: () => void): void {
  let stopping = false;
  const stop = async (signal: "SIGINT" | "SIGTERM" | "SIGHUP"): Promise<void> => {
    if (stopping) {
      return; // The terminal and npm may both send it.
    }
    stopping = true;
    const children = [...running];
    const ended = Promise.all(children.map(hasEnded));
    for (const child of children) {
      signalGroup(child, "SIGTERM");
    }
    await Promise.race([ended, delay(STOP_LIMIT_MS)]);
    for (const child of children) {
      signalGroup(child, "SIGKILL");
    }
    cleanUp();
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => void stop(signal));
  }
}

function hasEnded(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve();
    } else {
      child.once("exit", () => resolve());
    }
  });
}
