/** The files of the repository for the tidiness rules: the path, and the text of text files. */
import { globSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

/** A file, by its path from the root of the repository, with forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** A violation of a rule, and its place. */
export interface Finding {
  readonly path: string;
  readonly message: string;
}

const GENERATED = ["proto/generated/", "operator/src/generated/", "clients/go/internal/"];
const NOT_OURS = ["**/node_modules", "**/.git", "**/.quoin", ".setup.lock*", "site", "console/built*"];

/** @returns all text files below `root`, except installed files, generated data and the version control's own files */
export function readSourceTree(root: string): SourceFile[] {
  // The second pattern is for names that begin with a dot, which the first one skips.
  return globSync(["**/*", "**/.*", ".*/**/*"], { cwd: root, exclude: NOT_OURS })
    .filter((name) => statSync(path.join(root, name)).isFile())
    .map((name) => ({ path: name.split(path.sep).join("/"), text: readFileSync(path.join(root, name), "utf8") }))
    .filter((file) => !file.text.includes("\0"))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** @returns whether a program writes this file */
export function isGenerated(file: SourceFile): boolean {
  return GENERATED.some((folder) => file.path.startsWith(folder)) || file.path === "package-lock.json";
}

/** @returns whether a file contains tests */
export function isSpec(file: SourceFile): boolean {
  return file.path.endsWith(".spec.ts");
}
