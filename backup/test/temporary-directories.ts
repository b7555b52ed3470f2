/** Temporary directories of a test, which it removes. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class TemporaryDirectories {
  readonly #made: string[] = [];

  /** A new empty directory. */
  make(): string {
    const directory = mkdtempSync(join(tmpdir(), "quoin-test-"));
    this.#made.push(directory);
    return directory;
  }

  /** Removes all created directories with their content. */
  removeAll(): void {
    for (const directory of this.#made.splice(0)) {
      rmSync(directory, { recursive: true, force: true });
    }
  }
}
