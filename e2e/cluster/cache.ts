/**
 * A cache of results that take long to make, below the user's cache directory. The key is a digest of the inputs.
 *
 * An entry appears as a whole or not at all: it is made under another name and then renamed. If two runs make the same
 * entry at once, both make it, and one result is kept.
 */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Enough to make collisions practically impossible. */
const DIGEST_CHARACTERS = 16;
/** Separates the name of an entry from the process that is making it. */
const DRAFT = ".draft-";

/** The cache directory: `quoin-e2e` in XDG_CACHE_HOME, or in ~/.cache. */
export function cacheDirectory(): string {
  const base = process.env.XDG_CACHE_HOME;
  return join(base === undefined || base === "" ? join(homedir(), ".cache") : base, "quoin-e2e");
}

/** A directory in the cache. */
export interface CacheEntry {
  readonly directory: string;
  /** Whether it existed before. */
  readonly isFound: boolean;
}

/**
 * Returns the entry for these inputs, and makes it if there is none.
 *
 * @param inputs texts, such as versions and digests, that together determine the result
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

/** Removes what killed runs have left. */
function removeOldDrafts(): void {
  const directory = cacheDirectory();
  for (const name of existsSync(directory) ? readdirSync(directory) : []) {
    const [, maker] = name.split(DRAFT);
    if (maker !== undefined && !existsSync(`/proc/${maker}`)) {
      rmSync(join(directory, name), { recursive: true, force: true });
    }
  }
}

/** A digest of texts. It also differs when a word moves from one text to the next. */
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
