/**
 * The bytes of the arguments. Node replaces what is not UTF-8 by U+FFFD, so different arguments would name one key. The
 * command line of the system has the real bytes, and an argument with a U+FFFD of its own is then as good as any other.
 */

import { isUtf8 } from "node:buffer";
import { UsageError } from "../errors/index.ts";

/** Reads the arguments of this process as the system keeps them, each with a NUL behind it; null = it does not. */
export type ReadCommandLine = () => Uint8Array | null;

/** What Node puts in the place of bytes that are not UTF-8. */
const REPLACEMENT = "\ufffd";
/** Enough to find the argument in a command line. */
const SHOWN_BYTES = 60;

/** @throws UsageError if an argument is not UTF-8, or may not be: without a command line, U+FFFD is refused. */
export function requireUtf8(parameters: readonly string[], readCommandLine: ReadCommandLine): void {
  if (!parameters.some((parameter) => parameter.includes(REPLACEMENT))) {
    return;
  }
  const given = splitCommandLine(readCommandLine() ?? new Uint8Array(0)).slice(-parameters.length);
  for (const [index, parameter] of parameters.entries()) {
    if (!parameter.includes(REPLACEMENT)) {
      continue;
    }
    const bytes = given[index];
    const where = `argument ${index + 1} of quoinctl`;
    if (bytes === undefined || bytes.toString() !== parameter) {
      throw new UsageError(`${where} has the character U+FFFD, which may stand for bytes that are not UTF-8`, HINT);
    }
    if (!isUtf8(bytes)) {
      throw new UsageError(`${where} is not UTF-8: ${describe(bytes)}`, HINT);
    }
  }
}

const HINT = "names and texts are UTF-8; other values come from a file or from the standard input";

function splitCommandLine(commandLine: Uint8Array): readonly Buffer[] {
  const all = Buffer.from(commandLine.buffer, commandLine.byteOffset, commandLine.byteLength);
  const found: Buffer[] = [];
  for (let from = 0; from < all.length; ) {
    const nul = all.indexOf(0, from);
    const to = nul === -1 ? all.length : nul;
    found.push(all.subarray(from, to));
    from = to + 1;
  }
  return found;
}

/** Printable ASCII as it is, and other bytes as `\xfe`. */
function describe(bytes: Uint8Array): string {
  const shown = [...bytes.subarray(0, SHOWN_BYTES)].map((byte) =>
    byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`,
  );
  return `${shown.join("")}${bytes.length > SHOWN_BYTES ? "…" : ""}`;
}
