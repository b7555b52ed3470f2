/** The commit that is checked out, and the seeds that follow from it: a commit always has the same ones, the next others. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { SEEDS } from "./random.ts";

/** Stands for the commit where there is no version control. */
const NO_COMMIT = "no commit";
/** Digits by which people name a commit. */
const SHORT_LENGTH = 7;

/** Full hash of the commit; null where there is no repository, or no git. */
export function readCommit(): string | null {
  try {
    const args = ["rev-parse", "HEAD"];
    return execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    // Whatever git has against it, nobody else can tell.
    return null;
  }
}

/** What chooses something by the commit: its hash, or always the same text. */
export function commitText(): string {
  return readCommit() ?? NO_COMMIT;
}

/** The hash as people name it; "" if it is not known. */
export function shortCommit(): string {
  return readCommit()?.slice(0, SHORT_LENGTH) ?? "";
}

/** The first of so many seeds in a row, which follow from the text alone. `purpose` keeps several such rows apart. */
export function firstSeedOf(text: string, purpose: string, count: number): number {
  const word = createHash("sha256").update(`${purpose} ${text}`).digest().readUInt32BE(0);
  return word % (SEEDS - count + 1);
}
