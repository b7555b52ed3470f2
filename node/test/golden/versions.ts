/**
 * The golden files that there are: a folder for each version whose formats they are of. Once a version is released, its
 * files never change.
 */

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type GoldenEntry, readLogFile } from "./log-file.ts";
import type { RecordedReads } from "./recorded-reads.ts";

const VERSION = /^[0-9]+\.[0-9]+\.[0-9]+$/;

export const LOG_FILE = "log.jsonl";
export const SUCCESSIONS_FILE = "successions.jsonl";
export const FRAMES_FILE = "snapshot-frames.jsonl";
export const DIRECTORY_FILE = "data-directory.json.gz";
export const BACKUP_DIRECTORY = "backup";
const EXPECTED_FILE = "expected.json";

/** What there is to find in the files of a version. */
export interface Expected {
  /** Index up to which the state in the data directory and in the snapshots is applied. */
  readonly mark: number;
  /** What can be read at the mark, and after the last entry. */
  readonly atMark: RecordedReads;
  readonly atEnd: RecordedReads;
  /** The same, after the successions. */
  readonly afterSuccessions: RecordedReads;
}

export interface GoldenVersion {
  readonly version: string;
  readonly directory: string;
  readonly entries: readonly GoldenEntry[];
  /** The entries behind those, by which new clusters take the state over. */
  readonly successions: readonly GoldenEntry[];
  readonly expected: Expected;
}

/** The versions, the oldest first. */
export function goldenVersions(root = import.meta.dirname): GoldenVersion[] {
  const names = readdirSync(root).filter((name) => VERSION.test(name));
  return names.sort(compareVersions).map((version) => {
    const directory = join(root, version);
    const expected = JSON.parse(readFileSync(join(directory, EXPECTED_FILE), "utf8")) as Expected;
    const [entries, successions] = [LOG_FILE, SUCCESSIONS_FILE].map((name) => readLogFile(join(directory, name)));
    return { version, directory, entries: entries ?? [], successions: successions ?? [], expected };
  });
}

/** The newest golden files: they have every kind of row and entry. */
export function newestGolden(): GoldenVersion {
  const newest = goldenVersions().at(-1);
  if (newest === undefined) {
    throw new Error("there are no golden files. Make them: node node/test/golden/make.ts");
  }
  return newest;
}

export function writeExpected(directory: string, expected: Expected): void {
  writeFileSync(join(directory, EXPECTED_FILE), `${JSON.stringify(expected, null, 1)}\n`);
}

/** Raises an error if there are files of the version. */
export function requireNew(directory: string): void {
  if (existsSync(directory)) {
    throw new Error(`${directory} is there already, and golden files never change. Name another version`);
  }
}

function compareVersions(one: string, other: string): number {
  const [a, b] = [one, other].map((version) => version.split(".").map(Number)) as [number[], number[]];
  return a.map((part, at) => part - (b[at] ?? 0)).find((difference) => difference !== 0) ?? 0;
}
