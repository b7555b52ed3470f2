/**
 * The inputs and outputs of a command: standard streams, environment, directories, time, signals. They are passed in,
 * so that specs can choose them.
 */

import type { EventEmitter } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { Runtime } from "../../index.ts";
import type { ReadCommandLine } from "./argument-bytes.ts";

/** Standard input: bytes, from a person or from a file or pipe. */
export type Input = Readable & { readonly isTTY?: boolean };

/** The surroundings of the program. */
export interface Terminal {
  readonly stdin: Input;
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  /** The bytes of the arguments. */
  readonly readCommandLine: ReadCommandLine;
  /** Environment variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  readonly homeDirectory: string;
  /** For commands that wait. */
  readonly runtime: Pick<Runtime, "monotonicMs" | "sleep" | "after">;
  /** Emits the signals of this process, by name. A listener decides the effect of its signal. */
  readonly signals: Pick<EventEmitter, "on" | "off">;
}
