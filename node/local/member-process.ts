/** One member as a process of its own, with its log in a file. */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { LOCAL_HOST, type MemberPorts } from "./ports.ts";

export interface MemberProcessOptions {
  readonly name: string;
  readonly dataDirectory: string;
  readonly ports: MemberPorts;
  readonly adminTokenFile: string;
  readonly logFile: string;
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const LOG_FILE_MODE = 0o600;
const LOG_TAIL_LINES = 5;

export class MemberProcess {
  readonly #child: ChildProcess;
  readonly #logFile: string;
  /** Fulfilled when the process has ended. */
  readonly exited: Promise<Exit>;
  #exit: Exit | null = null;

  constructor(options: MemberProcessOptions) {
    const { ports, logFile } = options;
    this.#logFile = logFile;
    const log = openSync(logFile, "a", LOG_FILE_MODE);
    const on = (port: number): string => `${LOCAL_HOST}:${port}`;
    this.#child = spawn(
      process.execPath,
      [
        MAIN,
        "--name",
        options.name,
        "--cluster-name",
        "local",
        "--data-dir",
        options.dataDirectory,
        "--grpc",
        on(ports.grpc),
        "--http",
        on(ports.http),
        "--admin",
        on(ports.admin),
        "--health",
        on(ports.health),
        "--advertise-peer",
        on(ports.peer),
        "--admin-token-file",
        options.adminTokenFile,
        "--until-stdin-ends",
      ],
      // In a group of its own, Ctrl-C reaches the launcher alone, which then stops the member in order. Its standard
      // input is a pipe from here, so it also ends if the launcher is killed.
      { stdio: ["pipe", log, log], detached: true },
    );
    closeSync(log);
    this.exited = new Promise((resolve) => {
      const end = (exit: Exit): void => {
        this.#exit = exit;
        resolve(exit);
      };
      this.#child.once("exit", (code, signal) => end({ code, signal }));
      this.#child.once("error", () => end({ code: null, signal: null }));
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get hasExited(): boolean {
    return this.#exit !== null;
  }

  /** Asks the process to finish what it does and end. */
  stop(): void {
    this.#child.kill("SIGTERM");
  }

  /** Ends the process at once. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** The last lines that the process logged. */
  logTail(): string {
    return readFileSync(this.#logFile, "utf8").trimEnd().split("\n").slice(-LOG_TAIL_LINES).join("\n");
  }
}
