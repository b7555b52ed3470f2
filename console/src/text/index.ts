/** Pure functions between data and the text that shows it. */

export { base64OfBytes, bytesOfBase64, bytesOfText, textOfBytes } from "./base64.ts";
export { HEX_LINE_BYTES, type HexLine, hexLines, hexOfBytes } from "./hex.ts";
export { type FolderEntry, folderEntries, folderPath } from "./key-folders.ts";
export { type DifferenceLine, lineDifference } from "./line-difference.ts";
export { lockKey } from "./lock-key.ts";
export { PASSWORD_RULE } from "./password-rule.ts";
export {
  agoText,
  countdownText,
  countText,
  durationText,
  instantText,
  remainingMs,
  shortCountText,
  sizeText,
} from "./quantities.ts";
export { meantText, shownText } from "./shown-text.ts";
export {
  bestForm,
  editableValue,
  formattedValue,
  indentedJson,
  parsedValue,
  plainValue,
  possibleForms,
  type ValueForm,
  ValueProblem,
} from "./value-text.ts";
