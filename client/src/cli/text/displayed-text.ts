/**
 * Text for people: control and formatting characters are written as escapes, because names and values come from other
 * users, and a terminal obeys control characters.
 */

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

/** Writes control, formatting and line-separating characters as escapes such as `\n` and `\u{1b}`. */
export function escapeControls(text: string): string {
  return text.replaceAll(
    UNPRINTABLE,
    (character) => SHORT_ESCAPES.get(character) ?? `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}

/** The text whose UTF-8 form the bytes are; undefined if there is none. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) {
      return undefined;
    }
    throw error;
  }
}

/**
 * A value in a table: text with escapes, or base64 for other bytes, cut after a number of characters.
 *
 * @param maxCharacters at least 1.
 */
export function displayValue(value: Uint8Array, maxCharacters: number): string {
  const text = decodeText(value);
  const shown = text === undefined ? `base64:${Buffer.from(value).toString("base64")}` : escapeControls(text);
  const characters = Array.from(shown);
  return characters.length <= maxCharacters ? shown : `${characters.slice(0, maxCharacters).join("")}…`;
}
