/** A process of a test: its output is collected, and its whole group ends with the test. */

import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { programOf } from "../../../testing/index.ts";
import { until } from "./until.ts";

/**
 * The command line. Its specs in `client/` run `client/bin/quoinctl.js`, which users of the repository start. Other tests
 * start this entry: its bundle takes half the processor time.
 */
export const QUOINCTL_PROGRAM = fileURLToPath(new URL("../../../client/scripts/quoinctl.ts", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ProcessOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Written to standard input, which is then closed; by default standard input is empty. */
  readonly input?: string | Uint8Array;
  /** A command that replaces itself with the given program, such as `ip netns exec name`; it must not fork. */
  readonly through?: readonly string[];
  /** Gets a copy of all output of the process. */
  readonly logFile?: string;
}

export class TestProcess {
  readonly #child: ChildProcess;
  readonly ended: Promise<Ended>;
  #stdout = "";
  #stderr = "";
  #hasEnded = false;

  /** An empty list of processes, which end after each test of the present suite. */
  static ofEachTest(): TestProcess[] {
    const running: TestProcess[] = [];
    afterEach(() => Promise.all(running.splice(0).map((child) => child.dispose())));
    return running;
  }

  /** Runs a TypeScript program with the Node of this test: its bundle, if the test runner has made one. */
  constructor(program: string, args: readonly string[], options: ProcessOptions = {}) {
    const { through = [], env = process.env } = options;
    const command = [...through, process.execPath, programOf(program, env), ...args];
    this.#child = spawn(command[0] as string, command.slice(1), {
      cwd: options.cwd,
      env,
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    this.#child.stdin?.on("error", () => undefined).end(options.input ?? "");
    const copy = (text: string): void => {
      if (options.logFile !== undefined) {
        appendFileSync(options.logFile, text);
      }
    };
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#stdout += text;
      copy(text);
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
      copy(text);
    });
    this.ended = new Promise((resolve) => {
      this.#child.once("close", (code, signal) => {
        this.#hasEnded = true;
        resolve({ code, signal });
      });
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Waits until standard output contains the text. Rejects, with all output, if the process ends first. */
  async untilPrinted(text: string): Promise<void> {
    await until(`"${text}" of ${this.#child.spawnargs.join(" ")}`, () => {
      if (this.#stdout.includes(text)) {
        return true;
      }
      if (this.#hasEnded) {
        throw new Error(`the process ended without printing "${text}":\n${this.#stdout}\n${this.#stderr}`);
      }
      return false;
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends the process and all processes of its group. */
  async dispose(): Promise<void> {
    if (!this.#hasEnded) {
      try {
        process.kill(-this.pid, "SIGKILL");
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) {
          throw error;
        }
      }
      await this.ended;
    }
  }
}

/** Whether a process with this id exists. */
export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") {
      return false;
    }
    throw error;
  }
}
