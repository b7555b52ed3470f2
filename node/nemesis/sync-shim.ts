/**
 * Makes the calls by which a member's writes become durable wait or fail, by a small library that is loaded into its
 * processes before anything else (`sync-shim.c`). It is compiled for each run, by the compiler of the system.
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

/** Compiles the library into a directory, and returns its path. Rejects where there is no compiler. */
export async function compileSyncShim(directory: string): Promise<string> {
  const library = join(directory, "sync-shim.so");
  await run("cc", ["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, SOURCE, "-ldl"]);
  return library;
}

/** What the calls of one member do, over all of its processes. */
export class SyncControl {
  readonly #file: string;
  readonly #library: string;

  /** @param file is made. */
  constructor(file: string, library: string) {
    this.#file = file;
    this.#library = library;
    writeFileSync(file, new Uint8Array(CONTROL_BYTES), { mode: 0o600 });
  }

  /** The environment of processes that are to be under control. */
  get environment(): Readonly<Record<string, string>> {
    return { LD_PRELOAD: this.#library, QUOIN_SYNC_CONTROL: this.#file };
  }

  /** From now on calls pass, wait until they may pass or fail, or fail with EIO. */
  set(mode: keyof typeof MODES): void {
    const word = new Uint32Array([MODES[mode]]);
    const file = openSync(this.#file, "r+");
    try {
      writeSync(file, new Uint8Array(word.buffer), 0, word.byteLength, MODE_AT);
    } finally {
      closeSync(file);
    }
  }

  /** Calls that had to wait so far. */
  get waited(): number {
    return this.#count(WAITED_AT);
  }

  /** Calls that failed so far. */
  get failed(): number {
    return this.#count(FAILED_AT);
  }

  #count(at: number): number {
    const words = new Uint32Array(Uint8Array.from(readFileSync(this.#file)).buffer);
    return words[at / Uint32Array.BYTES_PER_ELEMENT] ?? 0;
  }
}
