/**
 * Runs quoinctl as a user does: its launcher as a child process with its own environment, so that nothing of this
 * machine affects the result.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The launcher that npm installs as `quoinctl`. */
export const LAUNCHER = fileURLToPath(new URL("../bin/quoinctl.js", import.meta.url));

/** A hanging child is killed after this time: 20 times the usual time on a busy machine. */
const LIMIT_MS = 20_000;

/** How to run a child. */
interface ChildOptions {
  /** Its working directory, which is also its home. */
  readonly directory: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Its standard input; undefined = the input stays open. */
  readonly input?: string | Uint8Array | undefined;
  /** Arguments of Node itself, before the launcher. */
  readonly nodeArguments?: readonly string[];
  /** Another launcher than the real one. */
  readonly launcher?: string;
}

/** How a child ended. */
export interface ChildResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** A child that runs. */
export interface RunningChild {
  readonly process: ChildProcess;
  readonly ended: Promise<ChildResult>;
  /** Kills it, and all that it has started. */
  stop(): void;
}

/** Starts quoinctl. The caller stops it. */
export function startQuoinctl(parameters: readonly string[], options: ChildOptions): RunningChild {
  const words = [...(options.nodeArguments ?? []), options.launcher ?? LAUNCHER, ...parameters];
  return startProgram(process.execPath, words, options);
}

/** Starts any program in the same way. The caller stops it. */
export function startProgram(program: string, parameters: readonly string[], options: ChildOptions): RunningChild {
  const child = spawn(program, parameters, {
    cwd: options.directory,
    env: { PATH: process.env.PATH, HOME: options.directory, ...options.environment },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  // A child may end without reading its input.
  child.stdin.on("error", () => undefined);
  if (options.input !== undefined) {
    child.stdin.end(options.input);
  }
  const ended = new Promise<ChildResult>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) =>
      resolve({ code, signal, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() }),
    );
  });
  return { process: child, ended, stop: () => stopGroup(child) };
}

/** Runs quoinctl to its end. */
export async function runQuoinctl(parameters: readonly string[], options: ChildOptions): Promise<ChildResult> {
  const child = startQuoinctl(parameters, options);
  try {
    return await child.ended;
  } finally {
    child.stop();
  }
}

/** The child leads a process group, so that its own children die with it. */
function stopGroup(child: ChildProcess): void {
  if (child.pid === undefined) {
    return;
  }
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) {
      throw error;
    }
  }
}
