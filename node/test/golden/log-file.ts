/**
 * A golden log as a file: one line of JSON for each entry, with what the entry came to and what the state was after it.
 * The lines can be read and searched; the entry itself is there as the bytes that a member has on its disk.
 */

import { readFileSync, writeFileSync } from "node:fs";

export interface GoldenEntry {
  readonly index: number;
  /** What the entry came to, in words; "" for entries without a waiting call. */
  readonly outcome: string;
  /** Of the state, after this entry. */
  readonly revision: number;
  readonly digest: number;
  /** The whole entry, sealed. */
  readonly bytes: Uint8Array;
}

export function writeLogFile(path: string, entries: readonly GoldenEntry[]): void {
  const lines = entries.map(({ bytes, ...rest }) =>
    JSON.stringify({ ...rest, entry: Buffer.from(bytes).toString("base64") }),
  );
  writeFileSync(path, `${lines.join("\n")}\n`);
}

export function readLogFile(path: string): GoldenEntry[] {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((line) => {
    const { index, outcome, revision, digest, entry } = JSON.parse(line) as Omit<GoldenEntry, "bytes"> & {
      readonly entry: string;
    };
    return { index, outcome, revision, digest, bytes: Buffer.from(entry, "base64") };
  });
}
