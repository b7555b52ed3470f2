/** Which bytes may be written to a terminal: it obeys control characters, and shows other bytes as rubbish. */

import { isUtf8 } from "node:buffer";

/** Tab, line feed and carriage return. */
const harmlessControls: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d]);

const firstPrintable = 0x20;
const deleteCharacter = 0x7f;

/** The first byte of the control characters from U+0080 to U+009F in UTF-8, and the end of their second byte. */
const upperControlLead = 0xc2;
const upperControlEnd = 0xa0;

/** Whether the bytes are UTF-8 without control characters other than tabs and line breaks. */
export function isTerminalText(bytes: Uint8Array): boolean {
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]!;
    if (byte < firstPrintable ? !harmlessControls.has(byte) : byte === deleteCharacter) {
      return false;
    }
    if (byte === upperControlLead && (bytes[index + 1] ?? upperControlEnd) < upperControlEnd) {
      return false;
    }
  }
  return isUtf8(bytes);
}
