/** Keys and their values in JSON and YAML, with the names of the contract. */

import type { KeyEntry, PreviousEntry } from "../../index.ts";
import { bytesDocument } from "../text/index.ts";

/** The history of a key. */
export function historyDocument(entry: Omit<KeyEntry, "key" | "value">): object {
  return {
    create_revision: entry.createRevision,
    mod_revision: entry.modRevision,
    version: entry.version,
    expires_in_ms: entry.expiresInMs,
    ...(entry.sessionId === 0 ? {} : { session_id: entry.sessionId }),
  };
}

/** A key with its value and history. */
export function entryDocument(entry: KeyEntry): object {
  return { key: entry.key, ...bytesDocument("value", entry.value), ...historyDocument(entry) };
}

/** The previous state of a key, if it was requested; null = the key did not exist. */
export function previousDocument(requested: boolean | undefined, previous: PreviousEntry | undefined): object {
  if (requested !== true) {
    return {};
  }
  if (previous === undefined) {
    return { previous: null };
  }
  const { key, value } = previous;
  return {
    previous: { key, ...(value === undefined ? {} : bytesDocument("value", value)), ...historyDocument(previous) },
    ...(value === undefined ? { previous_value_omitted: true } : {}),
  };
}
