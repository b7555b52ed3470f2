/** Temporary directories of tests. The test runner removes them after each spec file, other processes at their end. */

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Node stops removing, without an error, at a file that another thread has just removed: a closing store has threads of
 * its own that delete its old files.
 */
const ROUNDS_MAX = 1_000;

const made: string[] = [];

let isFirst = true;

/** A new empty directory, which is removed after the spec file, or when the process ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "quoin-test-"));
  made.push(directory);
  if (isFirst) {
    isFirst = false;
    process.once("exit", removeTemporaryDirectories);
  }
  return directory;
}

/** Removes all of them so far, with their content. Throws an error if something goes on filling one. */
export function removeTemporaryDirectories(): void {
  for (const directory of made.splice(0)) {
    removeDirectory(directory);
  }
}

/** Removes a directory with its content. Throws an error if something goes on filling it. */
function removeDirectory(directory: string): void {
  for (let round = 0; existsSync(directory); round++) {
    if (round === ROUNDS_MAX) {
      throw new Error(`${directory} is still there after it was removed ${ROUNDS_MAX} times`);
    }
    rmSync(directory, { recursive: true, force: true });
  }
}
