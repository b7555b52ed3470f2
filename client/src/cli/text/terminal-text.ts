/** Which bytes may be written to a terminal: it obeys control characters, and shows other bytes as rubbish. */

import { isUtf8 } from "node:buffer";

/** Tab, line feed and carriage return. */
const HARMLESS_CONTROLS: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d]);

const FIRST_PRINTABLE = 0x20;
const DELETE_CHARACTER = 0x7f;

/** The first byte of the control characters from U+0080 to U+009F in UTF-8, and the end of their second byte. */
const UPPER_CONTROL_LEAD = 0xc2;
const UPPER_CONTROL_END = 0xa0;

/** Whether the bytes are UTF-8 without control characters other than tabs and line breaks. */
export function isTerminalText(bytes: Uint8Array): boolean {
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]!;
    if (byte < FIRST_PRINTABLE ? !HARMLESS_CONTROLS.has(byte) : byte === DELETE_CHARACTER) {
      return false;
    }
    if (byte === UPPER_CONTROL_LEAD && (bytes[index + 1] ?? UPPER_CONTROL_END) < UPPER_CONTROL_END) {
      return false;
    }
  }
  return isUtf8(bytes);
}
