/**
 * Each source folder of a member, of quoinctl, of backups, of the console or of the operator has an index.ts, because
 * other folders may import only that file.
 */
import path from "node:path/posix";
import { type Finding, isGenerated, isSpec, type SourceFile } from "./source-tree.ts";

/** In each of them main.ts is the entry point, so the folder itself needs no index.ts. */
const SOURCE_ROOTS = ["backup/src", "client/src/cli", "console/src", "node/src", "operator/src"];

/** @returns each folder below one of them that has hand-written code but no index.ts */
export function checkFolderIndexes(files: readonly SourceFile[]): Finding[] {
  const folders = new Set(
    files
      .filter((file) => /\.tsx?$/.test(file.path) && !isSpec(file) && !isGenerated(file))
      .map((file) => path.dirname(file.path))
      .filter((folder) => SOURCE_ROOTS.some((house) => folder.startsWith(`${house}/`))),
  );
  return [...folders]
    .filter((folder) => !files.some((file) => file.path === `${folder}/index.ts`))
    .map((folder) => ({ path: folder, message: "no index.ts" }));
}
