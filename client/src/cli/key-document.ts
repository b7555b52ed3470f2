/** Keys and values in JSON and YAML: `value` if the bytes are UTF-8 text, else `value_base64`. */

import type { KeyEntry } from "../index.ts";
import { decodeText } from "./displayed-text.ts";

/** A value in the field for its form. */
export function valueDocument(value: Uint8Array): { value: string } | { value_base64: string } {
  const text = decodeText(value);
  return text === undefined ? { value_base64: Buffer.from(value).toString("base64") } : { value: text };
}

/** The history of a key. */
export function historyDocument(entry: Omit<KeyEntry, "key" | "value">): object {
  return {
    create_revision: entry.createRevision,
    mod_revision: entry.modRevision,
    version: entry.version,
    expires_in_ms: entry.expiresInMs,
  };
}

/** A key with its value and history. */
export function entryDocument(entry: KeyEntry): object {
  return { key: entry.key, ...valueDocument(entry.value), ...historyDocument(entry) };
}
