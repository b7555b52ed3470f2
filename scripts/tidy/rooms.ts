/** A folder of the source of a member, of backups or of the operator is a room with one door: the others import its index.ts, so there must be one. */
import path from "node:path/posix";
import { type Finding, isGenerated, isSpec, type SourceFile } from "./source-tree.ts";

/** In each of them main.ts stands alone: the house itself has no door to the inside. */
const HOUSES = ["backup/src", "node/src", "operator/src"];

/** @returns each folder below one of them that has code of ours but no index.ts */
export function checkRooms(files: readonly SourceFile[]): Finding[] {
  const folders = new Set(
    files
      .filter((file) => file.path.endsWith(".ts") && !isSpec(file) && !isGenerated(file))
      .map((file) => path.dirname(file.path))
      .filter((folder) => HOUSES.some((house) => folder.startsWith(`${house}/`))),
  );
  return [...folders]
    .filter((folder) => !files.some((file) => file.path === `${folder}/index.ts`))
    .map((folder) => ({ path: folder, message: "no index.ts" }));
}
