/**
 * Runs a shell command on its own terminal, made by `script` of util-linux, with typed input and all that the terminal
 * shows. The command is a child process like those of child.ts.
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";

/** A hanging command is killed after this time: 20 times the usual time on a busy machine. */
const LIMIT_MS = 40_000;

/** Whether there is a `script` with the options of this file; other systems have other options. */
export function canMakeTerminals(): boolean {
  const { stdout } = spawnSync("script", ["--version"], { encoding: "utf8" });
  return (stdout ?? "").includes("util-linux");
}

/** A command on a terminal. */
export class TerminalRun {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #shown = "";

  /** Starts a command of `sh`. The caller stops it. */
  constructor(command: string, options: { readonly directory: string; readonly environment: Record<string, string> }) {
    this.#child = spawn("script", ["--quiet", "--return", "--flush", "--command", command, "/dev/null"], {
      cwd: options.directory,
      env: { PATH: process.env.PATH, HOME: options.directory, SHELL: "/bin/sh", TERM: "xterm", ...options.environment },
      stdio: ["pipe", "pipe", "inherit"],
      detached: true,
      timeout: LIMIT_MS,
      killSignal: "SIGKILL",
    });
    this.#child.stdout?.on("data", (chunk: Buffer) => {
      this.#shown += chunk.toString();
    });
    this.#child.stdin?.on("error", () => undefined);
    this.#ended = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("close", (code) => resolve(code));
    });
  }

  /** Everything that the terminal has shown. */
  get shown(): string {
    return this.#shown;
  }

  /** Types something; a carriage return is the key Enter. */
  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  /** The exit code of the command. */
  get ended(): Promise<number | null> {
    return this.#ended;
  }

  /** Closes the terminal: everything that still runs on it gets SIGHUP. */
  stop(): void {
    this.#child.kill("SIGKILL");
  }
}
