/** The files of the repository as the tidiness rules see them: path, and text of those that are text. */
import { globSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

/** A file, by its path from the root of the repository, with forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Something untidy, and where. */
export interface Finding {
  readonly path: string;
  readonly message: string;
}

const GENERATED = ["proto/generated/", "operator/src/generated/"];
const NOT_OURS = ["**/node_modules", "**/.git", "**/.quoin", ".setup.lock*"];

/** @returns all text files below `root`, without what is installed, generated data and the version control's own files */
export function readSourceTree(root: string): SourceFile[] {
  // The second pattern is for names that begin with a dot, which the first passes over.
  return globSync(["**/*", "**/.*", ".*/**/*"], { cwd: root, exclude: NOT_OURS })
    .filter((name) => statSync(path.join(root, name)).isFile())
    .map((name) => ({ path: name.split(path.sep).join("/"), text: readFileSync(path.join(root, name), "utf8") }))
    .filter((file) => !file.text.includes("\0"))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** @returns whether a file is code that people write */
export function isCode(file: SourceFile): boolean {
  return /\.(?:ts|js|mjs|proto|grit|sh)$/.test(file.path) && !isGenerated(file);
}

/** @returns whether a program writes this file */
export function isGenerated(file: SourceFile): boolean {
  return GENERATED.some((folder) => file.path.startsWith(folder)) || file.path === "package-lock.json";
}

/** @returns whether a file holds tests */
export function isSpec(file: SourceFile): boolean {
  return file.path.endsWith(".spec.ts");
}
