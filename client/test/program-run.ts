/** Runs the command line in this process, as a shell would, and keeps its output. */

import { EventEmitter } from "node:events";
import { PassThrough, Readable, Writable } from "node:stream";
import type { FakeRuntime } from "./fake-runtime.ts";

/** Collects the output. */
class Sink extends Writable {
  readonly chunks: Buffer[] = [];
  isTTY = false;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.chunks.push(chunk);
    done();
  }

  get bytes(): Buffer {
    return Buffer.concat(this.chunks);
  }

  get text(): string {
    return this.bytes.toString();
  }
}

export interface ProgramRun {
  readonly code: number;
  readonly out: string;
  readonly bytes: Buffer;
  readonly err: string;
}

export interface ProgramInput {
  /** A stream stays open until it ends. */
  readonly input?: string | Uint8Array | Readable;
  /** Whether a person uses a terminal. */
  readonly isTTY?: boolean;
  readonly environment?: Record<string, string>;
  readonly directory?: string;
  /** The signals of the program. */
  readonly signals?: EventEmitter;
}

/** The program, with all its surroundings. */
type Program = (
  parameters: readonly string[],
  surroundings: {
    stdin: Readable;
    stdout: Writable & { isTTY: boolean };
    stderr: Writable & { isTTY: boolean };
    readCommandLine: () => Uint8Array | null;
    environment: Record<string, string>;
    workingDirectory: string;
    homeDirectory: string;
    runtime: FakeRuntime;
    signals: EventEmitter;
  },
) => Promise<number>;

/** Runs the program with these arguments until it ends. */
export async function runProgram(
  program: Program,
  runtime: FakeRuntime,
  parameters: readonly string[],
  {
    input = "",
    isTTY = false,
    environment = {},
    directory = "/nonexistent",
    signals = new EventEmitter(),
  }: ProgramInput,
): Promise<ProgramRun> {
  const stdout = new Sink();
  const stderr = new Sink();
  stdout.isTTY = isTTY;
  stderr.isTTY = isTTY;
  const code = await program(parameters, {
    stdin: input instanceof Readable ? input : input === "" ? new PassThrough() : Readable.from([Buffer.from(input)]),
    stdout,
    stderr,
    readCommandLine: () => Buffer.from([...parameters, ""].join("\0")),
    environment,
    workingDirectory: directory,
    homeDirectory: "/nonexistent",
    runtime,
    signals,
  });
  return { code, out: stdout.text, bytes: stdout.bytes, err: stderr.text };
}
