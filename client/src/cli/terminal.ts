/** What a command reads and writes: standard streams, environment, directories, time. Passed in, so that specs choose them. */

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
  readonly runtime: Pick<Runtime, "monotonicMs" | "sleep">;
}
