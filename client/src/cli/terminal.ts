/**
 * What a command reads and writes: standard streams, environment, directories, time, signals. Passed in, so that specs
 * choose them.
 */

import type { EventEmitter } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { Runtime } from "../index.ts";

/** Standard input: bytes, from a person or from a file or pipe. */
export type Input = Readable & { readonly isTTY?: boolean };

/** The surroundings of the program. */
export interface Terminal {
  readonly stdin: Input;
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  /** Environment variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  readonly homeDirectory: string;
  /** For commands that wait for something. */
  readonly runtime: Pick<Runtime, "monotonicMs" | "sleep" | "after">;
  /** Emits the signals that this process gets, by their names. Whoever listens to one decides what it does. */
  readonly signals: Pick<EventEmitter, "on" | "off">;
}
