/** Directories of one spec, which it removes at its end. */

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Node stops removing, without an error, at a file that another thread has just removed: a closing store has threads of
 * its own that delete its old files.
 */
const ROUNDS_MAX = 1_000;

export class TemporaryDirectories {
  readonly #made: string[] = [];

  /** A new empty directory. */
  make(): string {
    const directory = mkdtempSync(join(tmpdir(), "quoin-test-"));
    this.#made.push(directory);
    return directory;
  }

  /** Removes all of its directories with their contents. Throws an error if something goes on filling one. */
  removeAll(): void {
    for (const directory of this.#made.splice(0)) {
      for (let round = 0; existsSync(directory); round++) {
        if (round === ROUNDS_MAX) {
          throw new Error(`${directory} is still there after it was removed ${ROUNDS_MAX} times`);
        }
        rmSync(directory, { recursive: true, force: true });
      }
    }
  }
}
