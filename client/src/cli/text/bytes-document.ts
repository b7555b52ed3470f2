/** Bytes in JSON and YAML: as over HTTP in base64, and if they are UTF-8 also as text, in the field `…_text`. */

import { decodeText } from "./displayed-text.ts";

/** The fields of bytes. */
export function bytesDocument(name: string, bytes: Uint8Array): Readonly<Record<string, string>> {
  const text = decodeText(bytes);
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return { ...(text === undefined ? {} : { [`${name}_text`]: text }), [name]: base64 };
}
