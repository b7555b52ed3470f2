/** The present commit, which a failed run names. */

import { execFileSync } from "node:child_process";

/** Digits of a short hash. */
const SHORT_LENGTH = 7;

/** Full hash of the commit; null where there is no repository, or no git. */
function readCommit(): string | null {
  try {
    const args = ["rev-parse", "HEAD"];
    return execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    // Whatever the error of git is, the commit is unknown.
    return null;
  }
}

/** The short hash; "" if it is not known. */
export function shortCommit(): string {
  return readCommit()?.slice(0, SHORT_LENGTH) ?? "";
}
