/**
 * Tidiness rules that neither the compiler nor the linter knows: what the repository as a whole must look like.
 * Each rule is a function from the files to what is wrong with them.
 */
import { checkExports } from "./dead-exports.ts";
import { checkLockfile } from "./lockfile.ts";
import { checkPitfalls } from "./pitfalls.ts";
import { checkRooms } from "./rooms.ts";
import { type Finding, readSourceTree } from "./source-tree.ts";
import { checkTexts } from "./texts.ts";

export { isGenerated, readSourceTree } from "./source-tree.ts";

/** @returns everything untidy below the root of the repository */
export function findUntidiness(root: string): Finding[] {
  const files = readSourceTree(root);
  return [checkTexts, checkLockfile, checkRooms, checkExports, checkPitfalls].flatMap((check) => check(files));
}
