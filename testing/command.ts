/**
 * Runs programs, such as `ip` and `go`, without a shell and without blocking. An error contains what the program wrote
 * to standard error. The output of a long program goes to a file.
 */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** Enough for the last message of a compiler or a package manager. */
const TAIL_LINES = 20;

export interface RunOptions {
  readonly cwd?: string;
  /** In addition to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Written to standard input, which is empty without it. */
  readonly input?: string;
  /** Milliseconds after which the program is killed; by default there is no limit. */
  readonly limitMs?: number;
}

const running = new Set<ChildProcess>();

/** Kills every program that this module has started and that still runs. */
export function endCommands(): void {
  for (const child of running) {
    child.kill("SIGKILL");
  }
}

/** A program ended with another code than 0, or could not be run. */
export class CommandError extends Error {
  /** The exit code; null if the program could not be run or was ended by a signal. */
  readonly code: number | null;

  constructor(message: string, code: number | null, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** Runs a program and resolves to its standard output. Rejects with a CommandError that contains its standard error. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const { cwd, env, input = "", limitMs = 0 } = options;
    const settings = { cwd, env: { ...process.env, ...env }, timeout: limitMs, maxBuffer: OUTPUT_BYTES_MAX };
    const child = execFile(program, [...args], settings, (error, stdout, stderr) => {
      running.delete(child);
      if (error === null) {
        resolve(stdout);
        return;
      }
      const complaint = stderr.trim() === "" ? error.message : stderr.trim();
      const code = typeof error.code === "number" ? error.code : null;
      reject(new CommandError(`${program} ${args.join(" ")}: ${complaint}`, code, error));
    });
    running.add(child);
    // A write error means that the program ended without reading its input; its exit code shows whether it failed.
    child.stdin?.on("error", () => undefined).end(input);
  });
}

/** Runs a program whose output goes to a file. Rejects with a CommandError that contains the end of that output. */
export async function runLogged(
  program: string,
  args: readonly string[],
  logFile: string,
  options: Pick<RunOptions, "cwd" | "env"> = {},
): Promise<void> {
  mkdirSync(dirname(logFile), { recursive: true });
  const log = openSync(logFile, "w");
  try {
    const child = spawn(program, [...args], {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ["ignore", log, log],
    });
    running.add(child);
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject).once("exit", resolve);
    }).finally(() => running.delete(child));
    if (code !== 0) {
      const command = [program, ...args].join(" ");
      throw new CommandError(`${command} ended with ${code ?? "a signal"}:\n${tailOf(logFile)}`, code);
    }
  } finally {
    closeSync(log);
  }
}

/** Whether a program can be run and ends with the exit code 0. */
export async function succeeds(program: string, args: readonly string[], options: RunOptions = {}): Promise<boolean> {
  try {
    await run(program, args, options);
    return true;
  } catch (error) {
    if (error instanceof CommandError) {
      return false;
    }
    throw error;
  }
}

/** The last 20 lines of a file. */
export function tailOf(file: string): string {
  return readFileSync(file, "utf8").trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
}
