/**
 * The label that `lock run` gives its hold, so that people see who holds a lock: `ada@build-7:4711-9c41f2aa0b3d`.
 *
 * The cluster finds a hold by its fencing token. Without a token, it finds the hold by its subject and its label. So the
 * label ends with random characters: containers often have the same user, host name and process id.
 */

import { randomBytes } from "node:crypto";
import { hostname, userInfo } from "node:os";

/** Together with the rest, less than the 256 bytes of a label. */
const USER_CHARACTERS_MAX = 64;
const HOST_CHARACTERS_MAX = 128;
const RANDOM_BYTE_COUNT = 6;

/** A part that is printable in every terminal, one byte for each character. */
function plain(text: string, charactersMax: number): string {
  return text.replaceAll(/[^\x21-\x7e]/gu, "_").slice(0, charactersMax);
}

/** A new label, which no other process and no other call has. */
export function holderLabel(user = userName(), host = hostname(), pid = process.pid): string {
  const random = randomBytes(RANDOM_BYTE_COUNT).toString("hex");
  return `${plain(user, USER_CHARACTERS_MAX)}@${plain(host, HOST_CHARACTERS_MAX)}:${pid}-${random}`;
}

/** The name of the user, else the number: a container may run with a number that has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_SYSTEM_ERROR")) {
      throw error;
    }
    return String(process.getuid?.() ?? "");
  }
}
