/** Rules about single files that need no understanding of the code: forbidden content. */
import { type Finding, isGenerated, type SourceFile } from "./source-tree.ts";

const RULES: readonly { readonly pattern: RegExp; readonly message: string }[] = [
  // Notes for later belong in the issue tracker, where others find them.
  { pattern: /\b(?:TO[D]O|FIX[M]E)\b/, message: "unfinished work" },
  // The home of a person or a build machine, which exists nowhere else.
  { pattern: /(?<![\w.~@-])\/(?:home|root|work|Users)\//, message: "absolute path of a machine" },
];

/** @returns each place of hand-written text that breaks a rule */
export function checkTexts(files: readonly SourceFile[]): Finding[] {
  return files.filter((file) => !isGenerated(file)).flatMap(checkText);
}

function checkText(file: SourceFile): Finding[] {
  const lines = file.text.split("\n");
  return lines.flatMap((line, index) =>
    RULES.filter(({ pattern }) => pattern.test(line)).map(({ message }) => ({
      path: file.path,
      message: `line ${index + 1}: ${message}`,
    })),
  );
}
