/**
 * The join tokens of a member: the lines of a file, read again when it has changed, so that they are replaced without
 * a restart.
 *
 * A file that cannot be read any more, or has become empty, changes nothing: members that lost their token could not
 * find each other again. It is logged, once for each change.
 */

import { readFileSync, statSync } from "node:fs";
import type { PeerLog } from "./peer-handler.ts";

/** The file holds no token, or cannot be read at the start. The message names the file, and never a token. */
export class JoinTokenFileError extends Error {}

export class JoinTokenFile {
  readonly #path: string;
  readonly #log: Pick<PeerLog, "warn">;
  #tokens: readonly string[];
  #version: string;
  #problem: string | null = null;

  /**
   * Reads the file: one token a line, the first is presented to others, all are accepted. Blank lines and space around
   * tokens are ignored. Raises a JoinTokenFileError.
   */
  constructor(path: string, log: Pick<PeerLog, "warn">) {
    this.#path = path;
    this.#log = log;
    this.#version = versionOf(path);
    this.#tokens = tokensOf(path);
  }

  /** The tokens of the file as it is now, or as it last was when it was right. */
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
      this.#tell(error.message);
    }
    return this.#tokens;
  }

  /** What is wrong with the file, or null. */
  get problem(): string | null {
    return this.#problem;
  }

  #tell(problem: string): void {
    if (problem !== this.#problem) {
      this.#problem = problem;
      this.#log.warn({ problem }, "the join tokens that were read last stay in use");
    }
  }
}

/** Tells contents apart without reading them. */
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
    throw new JoinTokenFileError(`${path} holds no join token: one a line is wanted`);
  }
  return present;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
