/** Rules about single files that need no understanding of the code: forbidden content, and maximum length. */
import { type Finding, isCode, isGenerated, type SourceFile } from "./source-tree.ts";

/** A file that is too long for a reader to remember contains more than one concept. */
export const MAX_LINES = 700;

const rules: readonly { readonly pattern: RegExp; readonly message: string }[] = [
  // Notes for later belong in the issue tracker, where others find them.
  { pattern: /\b(?:TO[D]O|FIX[M]E)\b/, message: "unfinished work" },
  // The home of a person or a build machine, which exists nowhere else.
  { pattern: /(?<![\w.~@-])\/(?:home|root|work|Users)\//, message: "absolute path of a machine" },
];

/** @returns each place of hand-written text that breaks a rule, and each file of code that is too long */
export function checkTexts(files: readonly SourceFile[]): Finding[] {
  return files.filter((file) => !isGenerated(file)).flatMap(checkText);
}

function checkText(file: SourceFile): Finding[] {
  const lines = file.text.split("\n");
  const findings = lines.flatMap((line, index) =>
    rules
      .filter(({ pattern }) => pattern.test(line))
      .map(({ message }) => ({ path: file.path, message: `line ${index + 1}: ${message}` })),
  );
  const length = file.text.endsWith("\n") ? lines.length - 1 : lines.length;
  if (isCode(file) && length > MAX_LINES) {
    findings.push({ path: file.path, message: `${length} lines, more than ${MAX_LINES}` });
  }
  return findings;
}
