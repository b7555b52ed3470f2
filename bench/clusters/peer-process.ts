/** One member of another system as a separate process, with its log in a file. It ends together with this process. */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const LOG_FILE_MODE = 0o600;
const LOG_TAIL_LINES = 5;
/** A leader first transfers the leadership, and running calls finish. Then the process is killed. */
const STOP_TIMEOUT_MS = 20_000;

export class PeerProcess {
  readonly #system: string;
  readonly #child: ChildProcess;
  readonly #logFile: string;
  readonly #exited: Promise<void>;
  #hasExited = false;

  /** @param system its name, for errors. */
  constructor(system: string, program: string, args: readonly string[], logFile: string) {
    this.#system = system;
    this.#logFile = logFile;
    const log = openSync(logFile, "a", LOG_FILE_MODE);
    // In a separate process group, Ctrl-C reaches only the benchmark, which then stops the member in order.
    this.#child = spawn(program, args, { stdio: ["pipe", log, log], detached: true, env: plainEnvironment() });
    closeSync(log);
    this.#exited = new Promise((resolve) => {
      const end = (): void => {
        this.#hasExited = true;
        resolve();
      };
      this.#child.once("exit", end);
      this.#child.once("error", end);
    });
  }

  /** 0 if the process could not be started. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Raises an error with the end of the log if the process has ended. */
  assertRunning(): void {
    if (this.#hasExited) {
      const tail = readFileSync(this.#logFile, "utf8").trimEnd().split("\n").slice(-LOG_TAIL_LINES).join("\n");
      throw new Error(`a member of ${this.#system} ended:\n${tail}`);
    }
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    const inTime = new AbortController();
    const late = sleep(STOP_TIMEOUT_MS, true, { signal: inTime.signal }).catch(() => false);
    const isLate = await Promise.race([this.#exited.then(() => false), late]);
    inTime.abort();
    if (isLate) {
      this.#child.kill("SIGKILL");
      await this.#exited;
    }
  }
}

/**
 * The environment without settings of etcd, because etcd is measured with its defaults. NATS reads no settings from it.
 */
function plainEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("ETCD_")));
}
