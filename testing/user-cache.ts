/** What tests and tools make once on a machine, for all checkouts: programs in Go, environments of Python, runtimes. */

import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

/** Separates the name of an entry from the process that is making it. */
const DRAFT = ".draft-";

/** @returns the path of an entry below the user's cache directory: XDG_CACHE_HOME, or ~/.cache */
export function userCache(...names: readonly string[]): string {
  return path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), ".cache"), ...names);
}

/**
 * Makes a directory unless it exists. It appears as a whole or not at all: it is made under another name and then
 * renamed. If two processes make the same one at once, both make it, and one result is kept.
 *
 * @param make fills an empty directory; if it rejects, nothing stays
 * @returns whether the directory existed before
 */
export async function madeOnce(directory: string, make: (draft: string) => Promise<void>): Promise<boolean> {
  if (existsSync(directory)) {
    return true;
  }
  removeOldDrafts(path.dirname(directory));
  const draft = `${directory}${DRAFT}${process.pid}-${randomUUID()}`;
  mkdirSync(draft, { recursive: true });
  try {
    await make(draft);
    if (!existsSync(directory)) {
      renameSync(draft, directory);
    }
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return false;
}

/** Removes what killed processes have left. */
function removeOldDrafts(parent: string): void {
  for (const name of existsSync(parent) ? readdirSync(parent) : []) {
    const [, maker] = name.split(DRAFT);
    if (maker !== undefined && !isAlive(Number.parseInt(maker, 10))) {
      rmSync(path.join(parent, name), { recursive: true, force: true });
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process of another user is alive, too.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
