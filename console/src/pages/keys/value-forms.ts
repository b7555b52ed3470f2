/** The forms of a value, with their names for people. */

import type { ValueForm } from "../../text/index.ts";

export const VALUE_FORMS: readonly (readonly [ValueForm, string])[] = [
  ["text", "Text"],
  ["json", "JSON"],
  ["hex", "Hex"],
];
