/** Looks for what the programs of a bundle read. Without this, a missing file shows itself only when it is read. */

import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";

/** A file of the folder, as code names it. Only package.json is above the folder, and files that no bundle uses. */
const FILE_URL = /new URL\("(?!\.\.\/)([^"]+)",\s*import\.meta\.url\)/g;

/** @throws Error if a program in the directory names a file by `import.meta.url` that the directory does not have. */
export function refuseMissingFiles(directory: string): void {
  for (const program of globSync("*.js", { cwd: directory })) {
    const text = readFileSync(path.join(directory, program), "utf8");
    for (const [, file = ""] of text.matchAll(FILE_URL)) {
      if (!existsSync(path.join(directory, file))) {
        throw new Error(`${program} reads ${file}, which is not in the bundle`);
      }
    }
  }
}
