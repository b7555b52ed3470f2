/**
 * What took long to make, kept below the user's cache directory by a digest of what it was made from.
 *
 * An entry appears whole or not at all: it is made under another name and renamed. Two runs that make the same entry at
 * the same time both make it, and one of them is kept.
 */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Enough that two contents never meet. */
const DIGEST_CHARACTERS = 16;
/** Stands between the name of an entry and the process that is making it. */
const DRAFT = ".draft-";

/** Where everything is kept: XDG_CACHE_HOME, or ~/.cache, and there `quoin-e2e`. */
export function cacheDirectory(): string {
  const base = process.env.XDG_CACHE_HOME;
  return join(base === undefined || base === "" ? join(homedir(), ".cache") : base, "quoin-e2e");
}

/** A directory in the cache. */
export interface CacheEntry {
  readonly directory: string;
  /** Whether it was there before. */
  readonly isFound: boolean;
}

/**
 * The entry of this kind that was made from these inputs; made now if there is none.
 *
 * @param inputs texts, such as versions and digests, that together decide what is made
 * @param make fills an empty directory
 */
export async function cached(
  kind: string,
  inputs: readonly string[],
  make: (directory: string) => Promise<void>,
): Promise<CacheEntry> {
  const directory = join(cacheDirectory(), `${kind}-${digestOf(inputs)}`);
  if (existsSync(directory)) {
    return { directory, isFound: true };
  }
  removeOldDrafts();
  const draft = `${directory}${DRAFT}${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  try {
    await make(draft);
    if (!existsSync(directory)) {
      renameSync(draft, directory);
    }
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return { directory, isFound: false };
}

/** Removes what runs have left that were killed. */
function removeOldDrafts(): void {
  const directory = cacheDirectory();
  for (const name of existsSync(directory) ? readdirSync(directory) : []) {
    const [, maker] = name.split(DRAFT);
    if (maker !== undefined && !existsSync(`/proc/${maker}`)) {
      rmSync(join(directory, name), { recursive: true, force: true });
    }
  }
}

/** A digest of texts, which differs also when a word moves from one to the next. */
export function digestOf(texts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const text of texts) {
    hash.update(`${Buffer.byteLength(text)}\n`).update(text);
  }
  return hash.digest("hex").slice(0, DIGEST_CHARACTERS);
}

/** A digest of the names and contents of all files below a directory. */
export function digestOfFiles(directory: string): string {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(directory, name)).isFile())
    .sort();
  return digestOf(names.flatMap((name) => [name, readFileSync(join(directory, name), "latin1")]));
}
