/**
 * Tidiness rules that neither the compiler nor the linter has, about the repository as a whole. Each rule is a function
 * from the files to its findings.
 */
import { checkSentences } from "./broken-sentences.ts";
import { checkExports } from "./dead-exports.ts";
import { checkFolderIndexes } from "./folder-indexes.ts";
import { checkImportCircles } from "./import-circles.ts";
import { checkLockfile } from "./lockfile.ts";
import { checkRuleNumbers } from "./rule-numbers.ts";
import { type Finding, readSourceTree } from "./source-tree.ts";
import { checkTexts } from "./texts.ts";

export { isGenerated, readSourceTree } from "./source-tree.ts";

/** @returns all findings below the root of the repository */
export function findUntidiness(root: string): Finding[] {
  const files = readSourceTree(root);
  return [
    ...[checkTexts, checkSentences, checkLockfile, checkFolderIndexes, checkImportCircles, checkExports],
    checkRuleNumbers,
  ].flatMap((check) => check(files));
}
