/** The process of quoinctl: connects the command line with its surroundings and with the shell's exit code. */

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { run } from "./program.ts";
import type { Terminal } from "./terminal/index.ts";

/** The clock and the timers of this process. The SDK has the same ones, but not every command loads the SDK. */
const runtime: Terminal["runtime"] = {
  monotonicMs: () => performance.now(),
  sleep: (durationMs, signal) => pause(durationMs, undefined, signal === undefined ? {} : { signal }),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs).unref();
    return () => clearTimeout(timer);
  },
};

/** Runs the command line of this process to its end. */
export async function main(): Promise<void> {
  // Without a listener, Node opens its debugger at this signal. A flag of Node would need a newer one than 20, and would
  // also keep the signal from the command of `lock run`.
  process.on("SIGUSR1", () => undefined);
  process.stdout.on("error", endQuietly);
  process.stderr.on("error", endQuietly);
  const terminal: Terminal = {
    // Only on access: a command that reads nothing does not touch the standard input.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    readCommandLine,
    environment: process.env,
    workingDirectory: process.cwd(),
    homeDirectory: homedir(),
    runtime,
    signals: process,
  };
  const code = await run(process.argv.slice(2), terminal);
  // Output must reach a pipe before the exit. The exit is explicit because a gRPC channel that is closed while it
  // connects keeps its socket, and the process, until connecting has failed. For a machine that is gone, that takes
  // minutes.
  await Promise.all([process.stdout, process.stderr].map(written));
  process.exit(code);
}

/** Linux has it in a file. */
function readCommandLine(): Uint8Array | null {
  try {
    return readFileSync("/proc/self/cmdline");
  } catch (error) {
    if (error instanceof Error && "code" in error) {
      return null;
    }
    throw error;
  }
}

/** Resolves when everything written has been flushed, or cannot be. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write("", () => resolve());
  });
}

/** The reader of a pipe may leave early, as `head` does; that is not an error. */
function endQuietly(error: Error): void {
  if ("code" in error && error.code === "EPIPE") {
    process.exit();
  }
  throw error;
}
