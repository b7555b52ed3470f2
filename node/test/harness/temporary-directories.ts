/** Directories of one spec, which removes them when it is over. */

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Node stops removing, and says nothing, at a file that somebody else has just removed: a store that is closing has
 * threads of its own that delete what it needs no more.
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

  /** Removes everything that was made, with what is in it. Raises an error if something goes on filling it. */
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
