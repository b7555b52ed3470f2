/**
 * The present commit, and the seeds that follow from it: a commit always has the same seeds, the next one has others.
 */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { SEEDS } from "./random.ts";

/** The text instead of a commit where there is no version control. */
const NO_COMMIT = "no commit";
/** Digits of a short hash. */
const SHORT_LENGTH = 7;

/** Full hash of the commit; null where there is no repository, or no git. */
export function readCommit(): string | null {
  try {
    const args = ["rev-parse", "HEAD"];
    return execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    // Whatever the error of git is, the commit is unknown.
    return null;
  }
}

/** A text that makes a choice by commit: its hash, or always the same text. */
export function commitText(): string {
  return readCommit() ?? NO_COMMIT;
}

/** The short hash; "" if it is not known. */
export function shortCommit(): string {
  return readCommit()?.slice(0, SHORT_LENGTH) ?? "";
}

/**
 * The first of `count` consecutive seeds, which follow from the text alone. `purpose` separates several such ranges.
 */
export function firstSeedOf(text: string, purpose: string, count: number): number {
  const word = createHash("sha256").update(`${purpose} ${text}`).digest().readUInt32BE(0);
  return word % (SEEDS - count + 1);
}
