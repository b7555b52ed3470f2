/** How the bytes of a value are shown and edited: as text, as indented JSON, or in hexadecimal. */

import { bytesOfText, textOfBytes } from "./base64.ts";
import { bytesOfHex, hexLines } from "./hex.ts";

/** The forms in which a value can be shown. */
export type ValueForm = "text" | "json" | "hex";

/** What a person typed is no value of its form. The message names the rule. */
export class ValueProblem extends Error {}

const INDENT = 2;
/** Control characters other than tab and line ends: a text field would change or hide them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for them.
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;
const CARRIAGE_RETURN = "\r";

/** The form that shows these bytes best: JSON for objects and lists, text for readable UTF-8, else hexadecimal. */
export function bestForm(bytes: Uint8Array): ValueForm {
  const text = textOfBytes(bytes);
  if (text === null || HIDDEN.test(text)) {
    return "hex";
  }
  return /^\s*[{[]/.test(text) && parsedJson(text) !== undefined ? "json" : "text";
}

/** The forms that can show these bytes and give the same bytes back. */
export function possibleForms(bytes: Uint8Array): readonly ValueForm[] {
  const text = textOfBytes(bytes);
  if (text === null || HIDDEN.test(text) || text.includes(CARRIAGE_RETURN)) {
    return ["hex"];
  }
  return parsedJson(text) === undefined ? ["text", "hex"] : ["text", "json", "hex"];
}

/** The bytes in this form. In hexadecimal: groups of two digits, 16 in a line. Throws for a form that is not possible. */
export function formattedValue(bytes: Uint8Array, form: ValueForm): string {
  if (form === "hex") {
    return hexLines(bytes)
      .map((line) => line.bytes.join(" "))
      .join("\n");
  }
  const text = textOfBytes(bytes);
  if (text === null) {
    throw new ValueProblem("the value is not UTF-8");
  }
  return form === "json" ? JSON.stringify(JSON.parse(text), null, INDENT) : text;
}

/** The bytes of what a person typed in this form. Throws a ValueProblem. JSON is stored without indentation. */
export function parsedValue(text: string, form: ValueForm): Uint8Array {
  switch (form) {
    case "text":
      return bytesOfText(text);
    case "hex": {
      const bytes = bytesOfHex(text);
      if (bytes === null) {
        throw new ValueProblem("The value must consist of pairs of hexadecimal digits, with or without spaces.");
      }
      return bytes;
    }
    case "json":
      try {
        return bytesOfText(JSON.stringify(JSON.parse(text)));
      } catch (error) {
        throw new ValueProblem(`The value must be JSON: ${error instanceof Error ? error.message : String(error)}.`);
      }
  }
}

/** Undefined if the text is not JSON, or if writing it again would change a number, as for integers beyond 2^53. */
function parsedJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return withoutSpaces(JSON.stringify(value)) === withoutSpaces(text) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The JSON text without spaces between its tokens. */
function withoutSpaces(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, (_, literal: string | undefined) => literal ?? "");
}
