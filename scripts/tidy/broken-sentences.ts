/**
 * Sentences of documents that a list, a quotation or a heading breaks: a line of the sentence began with an operator
 * such as `+ 1` or with a number such as `7.`, and Markdown, or a formatter, took that for the mark of a list.
 */
import type { Finding, SourceFile } from "./source-tree.ts";

const FENCE = /^\s*(?:```|~~~)/;
const CODE = /^(?: {4}|\t)/;
/** The indentation, and the mark. */
const MARK = /^(\s*)(?:[-+*>]|#{1,6}|\d{1,9}[.)])\s/;
/** A mark within a mark: an operator and its operand. */
const OPERATION = /^\s*[-+*>]\s+(?:[-+*>]|\d{1,9}[.)])\s/;
const SENTENCE_END = /[.:;!?|]["”’*_`)\]]*$/;

/** @returns each line of a document that begins with a mark in the middle of a sentence */
export function checkSentences(files: readonly SourceFile[]): Finding[] {
  return files.filter(({ path }) => path.endsWith(".md")).flatMap(checkDocument);
}

function checkDocument({ path, text }: SourceFile): Finding[] {
  const findings: Finding[] = [];
  let before = "";
  let isFenced = false;
  for (const [index, line] of text.split("\n").entries()) {
    if (FENCE.test(line)) {
      isFenced = !isFenced;
      before = "";
    } else if (!isFenced && !(before === "" && CODE.test(line))) {
      if (isBroken(before, line)) {
        findings.push({ path, message: `line ${index + 1}: a list mark in the middle of a sentence` });
      }
      before = line.trimEnd();
    }
  }
  return findings;
}

/** @param before the line before, "" if it is empty or code. */
function isBroken(before: string, line: string): boolean {
  const mark = MARK.exec(line);
  if (mark === null) {
    return false;
  }
  // Items often are no sentences. Another one follows with the same indentation.
  const isNextItem = MARK.exec(before)?.[1] === mark[1];
  const isHeading = before.startsWith("#");
  return OPERATION.test(line) || (before !== "" && !isNextItem && !isHeading && !SENTENCE_END.test(before));
}
