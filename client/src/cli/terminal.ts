/** What a command reads and writes: standard streams, environment, directories. Passed in, so that specs choose them. */

import type { Readable, Writable } from "node:stream";

/** Standard input: bytes, from a person or from a file or pipe. */
export type Input = Readable & { readonly isTTY?: boolean };

/** The surroundings of the program. */
export interface Terminal {
  readonly stdin: Input;
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable;
  /** Environment variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  readonly homeDirectory: string;
}
