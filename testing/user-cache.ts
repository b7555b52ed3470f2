/** What tests and tools make once on a machine, for all checkouts: programs in Go, environments of Python, runtimes. */

import { homedir } from "node:os";
import path from "node:path";

/** @returns the path of an entry below the user's cache directory: `quoin` in XDG_CACHE_HOME, or in ~/.cache */
export function userCache(...names: readonly string[]): string {
  return path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), ".cache"), "quoin", ...names);
}
