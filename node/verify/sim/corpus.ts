/** Scripts that once broke a rule, shrunk and kept, so that every later version proves that it keeps the rule. */

import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { decodeScript, encodeScript, type WrittenScript } from "./script.ts";

const FOLDER = path.join(import.meta.dirname, "corpus");

/** Paths of all scripts, ordered by name. */
export function corpusFiles(): string[] {
  return globSync("*.json", { cwd: FOLDER })
    .sort()
    .map((name) => path.join(FOLDER, name));
}

export function readScript(file: string): WrittenScript {
  return decodeScript(readFileSync(file, "utf8"));
}

/** Writes the script to a file with the name of its rule and seed; returns the path. */
export function saveScript(written: WrittenScript): string {
  const [word = "rule"] = written.rule.split(/[^A-Za-z0-9]+/).filter((part) => part !== "");
  const file = path.join(FOLDER, `${word}-${written.script.seed.toString(16)}.json`);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(file, encodeScript(written));
  return file;
}
