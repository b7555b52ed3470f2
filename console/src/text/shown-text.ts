/**
 * Names as people see them: control, formatting and line-separating characters are escapes, as in quoinctl. Otherwise
 * `cr` and `cr\r` would look the same, and a name could change the order of the letters around it.
 */

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);
const HEX = 16;

/** Returns the text with escapes such as `\r` and `\u{202e}`. */
export function shownText(text: string): string {
  return text.replaceAll(
    UNPRINTABLE,
    (character) => SHORT_ESCAPES.get(character) ?? `\\u{${character.codePointAt(0)?.toString(HEX)}}`,
  );
}
