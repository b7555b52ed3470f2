/** Words of an unfinished line of bash, and words that bash may insert into it. */

/** The words of a line up to the cursor. */
export interface SplitLine {
  /** Without quotes and escapes; the last one is at the cursor, and may be empty. */
  readonly words: readonly string[];
  /** The quotation mark that is open at the cursor; empty = none. */
  readonly quote: "" | "'" | '"';
}

/** The characters that separate words. */
const BLANKS = " \t\n";

/** What a word may contain without quotes or escapes. */
const PLAIN_CHARACTERS = /[\w@%+=:,./-]/u;

/** Splits a line like bash does: at blanks, with quotation marks and backslashes; nothing is expanded. */
export function splitLine(line: string): SplitLine {
  const words: string[] = [];
  let word: string | undefined;
  let quote: SplitLine["quote"] = "";
  let isEscaped = false;
  for (const character of line) {
    if (isEscaped) {
      word = `${word ?? ""}${character}`;
      isEscaped = false;
    } else if (character === "\\" && quote !== "'") {
      isEscaped = true;
    } else if (character === quote) {
      quote = "";
    } else if (quote === "" && (character === "'" || character === '"')) {
      quote = character;
      word ??= "";
    } else if (quote === "" && BLANKS.includes(character)) {
      if (word !== undefined) {
        words.push(word);
      }
      word = undefined;
    } else {
      word = `${word ?? ""}${character}`;
    }
  }
  return { words: [...words, word ?? ""], quote };
}

/** Writes a text so that bash reads it as a part of one word, outside of quotation marks. */
export function escapeForBash(text: string): string {
  return Array.from(text, (character) => (PLAIN_CHARACTERS.test(character) ? character : `\\${character}`)).join("");
}
