/**
 * A cache of results that take long to make, below the user's cache directory. The key is a digest of the inputs.
 */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { madeOnce, userCache } from "../../testing/index.ts";

/** Enough to make collisions practically impossible. */
const DIGEST_CHARACTERS = 16;

/** The cache directory: `quoin-e2e` in XDG_CACHE_HOME, or in ~/.cache. */
export function cacheDirectory(): string {
  return userCache("quoin-e2e");
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
  return { directory, isFound: await madeOnce(directory, make) };
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
