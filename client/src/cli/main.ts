/** The process of quoinctl: gives the command line its surroundings, and the shell its exit code. */

import { homedir } from "node:os";
import { systemRuntime } from "../index.ts";
import { run } from "./program.ts";
import type { Terminal } from "./terminal.ts";

/** Runs the command line of this process to its end. */
export async function main(): Promise<void> {
  process.stdout.on("error", endQuietly);
  process.stderr.on("error", endQuietly);
  const terminal: Terminal = {
    // Only when it is asked for: a command that reads nothing leaves the standard input alone.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    workingDirectory: process.cwd(),
    homeDirectory: homedir(),
    runtime: systemRuntime,
    signals: process,
  };
  const code = await run(process.argv.slice(2), terminal);
  // What was printed must reach a pipe first. And not without an end: a channel of gRPC that is closed while it connects
  // keeps its socket, and the process, until that has failed, at a machine that is gone for minutes.
  await Promise.all([process.stdout, process.stderr].map(written));
  process.exit(code);
}

/** Resolves when everything that was written has gone, or cannot go. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write("", () => resolve());
  });
}

/** The reader of a pipe may go away when it has seen enough, as `head` does; that is no error. */
function endQuietly(error: Error): void {
  if ("code" in error && error.code === "EPIPE") process.exit();
  throw error;
}
