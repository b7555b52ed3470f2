/**
 * The join tokens of a member: the lines of a file. A change of the file takes effect without a restart.
 *
 * A file that becomes unreadable or empty changes nothing: members that lose their token could not find each other
 * again. This class logs the problem once per change.
 */

import { readFileSync, statSync } from "node:fs";
import type { PeerLog } from "./peer-handler.ts";

/** The file contains no token, or is not readable at the start. The message names the file, and never a token. */
export class JoinTokenFileError extends Error {}

export class JoinTokenFile {
  readonly #path: string;
  readonly #log: Pick<PeerLog, "warn">;
  #tokens: readonly string[];
  #version: string;
  #problem: string | null = null;

  /**
   * Reads the file: one token per line. The member presents the first one and accepts all of them. Blank lines and
   * space around tokens do not count. Raises a JoinTokenFileError.
   */
  constructor(path: string, log: Pick<PeerLog, "warn">) {
    this.#path = path;
    this.#log = log;
    this.#version = versionOf(path);
    this.#tokens = tokensOf(path);
  }

  /** The tokens of the file as it is now, or of its last valid content. */
  get tokens(): readonly string[] {
    try {
      const version = versionOf(this.#path);
      if (version !== this.#version) {
        this.#tokens = tokensOf(this.#path);
        this.#version = version;
      }
      this.#problem = null;
    } catch (error) {
      if (!(error instanceof JoinTokenFileError)) {
        throw error;
      }
      this.#reportProblem(error.message);
    }
    return this.#tokens;
  }

  /** What is wrong with the file, or null. */
  get problem(): string | null {
    return this.#problem;
  }

  #reportProblem(problem: string): void {
    if (problem !== this.#problem) {
      this.#problem = problem;
      this.#log.warn({ problem }, "the last valid join tokens stay in use");
    }
  }
}

/** Distinguishes versions of the file without reading it. */
function versionOf(path: string): string {
  try {
    const { mtimeNs, ino, size } = statSync(path, { bigint: true });
    return `${mtimeNs} ${ino} ${size}`;
  } catch (error) {
    throw new JoinTokenFileError(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

function tokensOf(path: string): string[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new JoinTokenFileError(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const tokens = text.split("\n").map((line) => line.trim());
  const present = tokens.filter((token) => token !== "");
  if (present.length === 0) {
    throw new JoinTokenFileError(`${path} contains no join token: write one per line`);
  }
  return present;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
