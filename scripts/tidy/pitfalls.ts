/**
 * The known ways in which such a system loses data or hangs have numbers. For each one, a test that contains its number
 * proves that it does not happen: a spec, or a scenario of the consensus core.
 */
import { type Finding, isSpec, type SourceFile } from "./source-tree.ts";

const CONSENSUS = "node/src/raft/";
const PITFALLS = 61;

/** @returns the numbers of pitfalls that no test names, if this is the tree of the service */
export function checkPitfalls(files: readonly SourceFile[]): Finding[] {
  if (!files.some((file) => file.path === `${CONSENSUS}core.ts`)) {
    return [];
  }
  const tests = files.filter((file) => isSpec(file) || (file.path.startsWith(CONSENSUS) && file.path.endsWith(".txt")));
  const named = new Set(
    tests.flatMap((file) => [...file.text.matchAll(/\bP([0-9]+)\b/g)].map((match) => Number(match[1]))),
  );
  const missing = Array.from({ length: PITFALLS }, (_, at) => at + 1).filter((number) => !named.has(number));
  return missing.map((number) => ({ path: CONSENSUS, message: `no test names pitfall P${number}` }));
}
