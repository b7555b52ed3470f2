/**
 * Rules of the interface (S…), pitfalls (P…) and guarantees (G…) have numbers that code and tests cite. A row of a table in
 * docs/design defines each number once, with its text, the code that implements it, and its tests. Every cited number must
 * have a definition, and a test must cite every defined number: a spec, a scenario of the consensus core, a mutant, or a
 * table of the conformance suite.
 *
 * S3 is the object store, and never a rule: the rule is S03. Percentiles are written in lower case, as p99.
 */
import { type Finding, isGenerated, isSpec, type SourceFile } from "./source-tree.ts";

/** The documents that define numbers, by the letter that these begin with. */
const DEFINITIONS: ReadonlyMap<string, string> = new Map([
  ["S", "docs/design/interface-rules.md"],
  ["P", "docs/design/pitfalls.md"],
  ["G", "docs/design/consensus.md"],
]);
const OBJECT_STORE = "S3";
const NUMBER = /\b[SPG][0-9]{1,3}\b/g;
/** `| S1 | text | code | tests |` */
const ROW = /^\| ([SPG][0-9]+) +\|.*\|([^|]*)\|$/gm;
/** Other files contain checksums and data with letters and digits that are no citations. */
const TEXT = /\.(?:ts|js|mjs|proto|md|txt|sh|py|c|yaml)$/;

/** @returns numbers that are cited and not defined, defined and not cited by a test, or defined wrongly */
export function checkRuleNumbers(files: readonly SourceFile[]): Finding[] {
  const texts = files.filter((file) => TEXT.test(file.path) && !isGenerated(file));
  const cited = new Map(texts.map((file) => [file.path, citedBy(file)]));
  const shown = new Set(texts.filter(isTest).flatMap((file) => [...(cited.get(file.path) ?? [])]));
  const defined = new Set<string>();
  const findings: Finding[] = [];
  for (const [letter, path] of DEFINITIONS) {
    const text = texts.find((file) => file.path === path)?.text ?? "";
    for (const [, number = "", tests = ""] of text.matchAll(ROW)) {
      const problem = problemOf(number, { letter, isKnown: defined.has(number), isShown: shown.has(number) });
      defined.add(number);
      const named = [...tests.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
      const wrong = named.find((name) => cited.get(name)?.has(number) !== true);
      if (problem !== null) {
        findings.push({ path, message: problem });
      } else if (named.length === 0) {
        findings.push({ path, message: `the last column of ${number} names no test` });
      } else if (wrong !== undefined) {
        findings.push({ path, message: `${number}: ${wrong} does not cite it` });
      }
    }
  }
  for (const [path, numbers] of cited) {
    for (const number of numbers) {
      if (!defined.has(number)) {
        findings.push({ path, message: `cites ${number}, which ${DEFINITIONS.get(number.charAt(0))} does not define` });
      }
    }
  }
  return findings;
}

function problemOf(
  number: string,
  { letter, isKnown, isShown }: { letter: string; isKnown: boolean; isShown: boolean },
): string | null {
  if (number === OBJECT_STORE) {
    return "S3 is the object store: the rule is S03";
  }
  if (!number.startsWith(letter)) {
    return `defines ${number}, which belongs into ${DEFINITIONS.get(number.charAt(0))}`;
  }
  if (isKnown) {
    return `defines ${number} twice`;
  }
  return isShown ? null : `no test cites ${number}`;
}

function citedBy(file: SourceFile): Set<string> {
  return new Set([...file.text.matchAll(NUMBER)].map(([number]) => number).filter((number) => number !== OBJECT_STORE));
}

function isTest(file: SourceFile): boolean {
  if (file.path.startsWith("scripts/")) {
    return false; // They test this check.
  }
  return (
    isSpec(file) ||
    /^node\/verify\/scenarios\/[^/]+\.txt$/.test(file.path) ||
    /^node\/verify\/(?:sim\/mutants|conformance\/tables)\/[^/]+\.ts$/.test(file.path)
  );
}
