/** A program that measures one client, in the language of its SDK: it gets an order, and gives a report. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { pythonEnvironment } from "../../e2e/python/index.ts";
import { assertGo } from "../../scripts/go/index.ts";
import type { Operation } from "./cases.ts";
import type { Language } from "./options.ts";

/** The input of a program. */
export interface Order {
  readonly client: string;
  readonly endpoints: readonly string[];
  readonly apiKey: string;
  readonly token: string;
  readonly what: Operation;
  readonly inFlight: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Keys that the calls use in turn, or watches of as many keys; 0 = each call uses a new one. */
  readonly keys: number;
  readonly valueBytes: number;
}

/** The output of a program. `cpuMs` is its processor time. */
export interface ClientReport {
  readonly operations: number;
  readonly durationMs: number;
  readonly cpuMs: number;
}

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly folder: URL;
  readonly env: Readonly<Record<string, string>>;
}

const FOLDER = new URL(".", import.meta.url);

/**
 * How to start the program of a language. Installs what it needs for Python.
 *
 * @throws GoMissing or PythonMissing
 */
export async function programFor(language: Language): Promise<Program> {
  if (language === "go") {
    await assertGo();
    // Go builds only what has changed, also in the SDK beside it.
    return { command: "go", args: ["run", "."], folder: new URL("go/", FOLDER), env: { GOFLAGS: "-mod=readonly" } };
  }
  const command = await pythonEnvironment(new URL("../../clients/python/requirements.txt", FOLDER));
  const source = fileURLToPath(new URL("../../clients/python/src", FOLDER));
  const env = { PYTHONPATH: source, PYTHONDONTWRITEBYTECODE: "1" };
  return { command, args: ["measure.py"], folder: FOLDER, env };
}

export class ClientProgram {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #interrupted: AbortSignal;

  constructor({ command, args, folder, env }: Program, order: Order, interrupted: AbortSignal) {
    this.#interrupted = interrupted;
    this.#process = spawn(command, args, {
      cwd: fileURLToPath(folder),
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "inherit"],
      signal: interrupted,
    });
    this.#process.on("error", () => undefined);
    this.#lines = createInterface(this.#process.stdout as NodeJS.ReadableStream)[Symbol.asyncIterator]();
    this.tell(JSON.stringify(order));
  }

  /** Sends a line. */
  tell(line: string): void {
    this.#process.stdin?.write(`${line}\n`);
  }

  /** The next line; rejects if there is none. */
  async line(): Promise<string> {
    const { done, value } = await this.#lines.next();
    this.#interrupted.throwIfAborted();
    if (done === true) {
      throw new Error("the client to measure has ended early; its message is above");
    }
    return value;
  }

  /** Its report, when it has ended. */
  async report(): Promise<ClientReport> {
    const report = JSON.parse(await this.line()) as ClientReport;
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      await once(this.#process, "exit");
    }
    return report;
  }
}
