/** A folder of a member's source is a room with one door: the others import its index.ts, so there must be one. */
import path from "node:path/posix";
import { type Finding, isSpec, type SourceFile } from "./source-tree.ts";

const MEMBER_SOURCE = "node/src";

/** @returns each folder below node/src that has code but no index.ts */
export function checkRooms(files: readonly SourceFile[]): Finding[] {
  const folders = new Set(
    files
      .filter((file) => file.path.startsWith(`${MEMBER_SOURCE}/`) && file.path.endsWith(".ts") && !isSpec(file))
      .map((file) => path.dirname(file.path)),
  );
  folders.delete(MEMBER_SOURCE); // main.ts stands there alone: the house itself has no door to the inside.
  return [...folders]
    .filter((folder) => !files.some((file) => file.path === `${folder}/index.ts`))
    .map((folder) => ({ path: folder, message: "no index.ts" }));
}
