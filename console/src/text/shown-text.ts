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
const ESCAPE = /\\(?:n|r|t|u\{([0-9a-f]{1,6})\})/g;
const CODE_POINT_MAX = 0x10ffff;

/** Returns the text with escapes such as `\r` and `\u{202e}`. */
export function shownText(text: string): string {
  return text.replaceAll(
    UNPRINTABLE,
    (character) => SHORT_ESCAPES.get(character) ?? `\\u{${character.codePointAt(0)?.toString(HEX)}}`,
  );
}

/** Returns the text with the characters that its escapes stand for, where `shownText` writes such an escape. */
export function meantText(text: string): string {
  return text.replaceAll(ESCAPE, (written: string, digits: string | undefined) => {
    const short = [...SHORT_ESCAPES].find(([, escaped]) => escaped === written)?.[0];
    const code = Number.parseInt(digits ?? "", HEX);
    const character = short ?? (code <= CODE_POINT_MAX ? String.fromCodePoint(code) : written);
    return shownText(character) === written ? character : written;
  });
}
