/**
 * Makes the sync calls of a member wait or fail, by a small library that is preloaded into its processes
 * (`sync-shim.c`). The compiler of the system compiles it for each run.
 */

import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./command.ts";

const SOURCE = fileURLToPath(new URL("./sync-shim.c", import.meta.url));
/** The layout of the control file, which the library shares: three numbers of 32 bits. */
const CONTROL_BYTES = 12;
const MODE_AT = 0;
const WAITED_AT = 4;
const FAILED_AT = 8;
const MODES = { pass: 0, wait: 1, fail: 2 } as const;

/** Compiles the library into a directory, and returns its path. Rejects if there is no compiler. */
export async function compileSyncShim(directory: string): Promise<string> {
  const library = join(directory, "sync-shim.so");
  await run("cc", ["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, SOURCE, "-ldl"]);
  return library;
}

/** Controls the sync calls of one member, in all of its processes. */
export class SyncControl {
  readonly #file: string;
  readonly #library: string;

  /** @param file is created */
  constructor(file: string, library: string) {
    this.#file = file;
    this.#library = library;
    writeFileSync(file, new Uint8Array(CONTROL_BYTES), { mode: 0o600 });
  }

  /** The environment for the processes to control. */
  get environment(): Readonly<Record<string, string>> {
    return { LD_PRELOAD: this.#library, QUOIN_SYNC_CONTROL: this.#file };
  }

  /** Sets the mode: calls pass, or wait for another mode, or fail with EIO. */
  set(mode: keyof typeof MODES): void {
    const word = new Uint32Array([MODES[mode]]);
    const file = openSync(this.#file, "r+");
    try {
      writeSync(file, new Uint8Array(word.buffer), 0, word.byteLength, MODE_AT);
    } finally {
      closeSync(file);
    }
  }

  /** Number of calls that had to wait so far. */
  get waited(): number {
    return this.#count(WAITED_AT);
  }

  /** Number of calls that failed so far. */
  get failed(): number {
    return this.#count(FAILED_AT);
  }

  #count(at: number): number {
    const words = new Uint32Array(Uint8Array.from(readFileSync(this.#file)).buffer);
    return words[at / Uint32Array.BYTES_PER_ELEMENT] ?? 0;
  }
}
