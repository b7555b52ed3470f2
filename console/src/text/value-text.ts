/**
 * How the bytes of a value are shown and edited: as text, as JSON, or in hexadecimal.
 *
 * JSON is parsed only to check it, because parsing rounds numbers and drops repeated names. It is indented token by
 * token, and stored as typed.
 */

import { bytesOfText, textOfBytes } from "./base64.ts";
import { bytesOfHex, hexLines } from "./hex.ts";

/** The forms in which a value can be shown. */
export type ValueForm = "text" | "json" | "hex";

/** What a person typed is no value of its form. The message names the rule. */
export class ValueProblem extends Error {}

const INDENT = "  ";
/** Deeper levels are indented no further, so that many brackets make no huge text. */
const INDENTED_LEVELS_MAX = 32;
/** A string, a bracket or a comma or colon, or a number or a word: all that JSON has besides spaces. */
const JSON_TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|[^[\]{},:"\s]+/g;
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
  return /^\s*[{[]/.test(text) && problemOfJson(text) === null ? "json" : "text";
}

/** The forms in which these bytes can be edited without a change of the others. */
export function possibleForms(bytes: Uint8Array): readonly ValueForm[] {
  const text = textOfBytes(bytes);
  if (text === null || HIDDEN.test(text) || text.includes(CARRIAGE_RETURN)) {
    return ["hex"];
  }
  return problemOfJson(text) === null ? ["text", "json", "hex"] : ["text", "hex"];
}

/**
 * The bytes for reading: JSON is indented, text is as it is, hexadecimal has groups of two digits, 16 in a line. Throws a
 * ValueProblem if the bytes are no UTF-8 or no JSON, and their form is.
 */
export function formattedValue(bytes: Uint8Array, form: ValueForm): string {
  if (form === "hex") {
    return hexLines(bytes)
      .map((line) => line.bytes.join(" "))
      .join("\n");
  }
  const text = textOfBytes(bytes);
  if (text === null) {
    throw new ValueProblem("The value is not UTF-8.");
  }
  return form === "json" ? indentedJson(text) : text;
}

/** The bytes in a line of other text: as text if they are readable, else in hexadecimal. */
export function plainValue(bytes: Uint8Array): string {
  return formattedValue(bytes, bestForm(bytes) === "hex" ? "hex" : "text");
}

/** The bytes for editing: `parsedValue` gives the same bytes back. Throws a ValueProblem for a form that cannot do that. */
export function editableValue(bytes: Uint8Array, form: ValueForm): string {
  const forms = possibleForms(bytes);
  if (!forms.includes(form)) {
    const isText = forms.includes("text");
    throw new ValueProblem(
      isText ? "The value is not JSON." : "A text field would change this value: edit it in hexadecimal.",
    );
  }
  return formattedValue(bytes, form === "json" ? "text" : form);
}

/** The bytes of what a person typed in this form. JSON is checked, and stored as typed. Throws a ValueProblem. */
export function parsedValue(text: string, form: ValueForm): Uint8Array {
  if (form === "hex") {
    const bytes = bytesOfHex(text);
    if (bytes === null) {
      throw new ValueProblem("The value must consist of pairs of hexadecimal digits, with or without spaces.");
    }
    return bytes;
  }
  if (form === "json") {
    requireJson(text);
  }
  return bytesOfText(text);
}

/** The same JSON with each member on a line; its tokens are as they were. Throws a ValueProblem if it is not JSON. */
export function indentedJson(text: string): string {
  requireJson(text);
  const parts: string[] = [];
  let depth = 0;
  let before = "";
  const newLine = (): string => `\n${INDENT.repeat(Math.min(depth, INDENTED_LEVELS_MAX))}`;
  for (const [token] of text.matchAll(JSON_TOKEN)) {
    const isOpened = before === "{" || before === "[";
    if (token === "}" || token === "]") {
      depth--;
      parts.push(isOpened ? "" : newLine());
    } else if (isOpened || before === ",") {
      parts.push(newLine());
    }
    parts.push(token === ":" ? ": " : token);
    if (token === "{" || token === "[") {
      depth++;
    }
    before = token;
  }
  return parts.join("");
}

function requireJson(text: string): void {
  const problem = problemOfJson(text);
  if (problem !== null) {
    throw new ValueProblem(`The value must be JSON: ${problem}.`);
  }
}

/** Why the text is not JSON; null = it is. */
function problemOfJson(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
