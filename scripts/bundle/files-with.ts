/** Finds the few sources that a bundle must change. A filter keeps all others on the fast path of the bundler. */

import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { repositoryRoot } from "./repository.ts";

/**
 * @returns a regular expression that matches the absolute paths of the sources with such a text, except specs; null if
 *   there is none
 */
export function filesWith(text: RegExp, patterns: readonly string[]): RegExp | null {
  const files = globSync(patterns, { cwd: repositoryRoot, exclude: ["**/node_modules", "**/*.spec.ts", "**/test"] })
    .map((file) => path.join(repositoryRoot, file))
    .filter((file) => readFileSync(file, "utf8").search(text) !== -1);
  return files.length === 0 ? null : new RegExp(`^(?:${files.map(RegExp.escape).join("|")})$`);
}
