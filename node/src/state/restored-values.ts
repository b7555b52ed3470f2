/**
 * Finds the values that were too large for a stored answer: in the request itself, in the key, or in the history. The
 * value of a key at a revision never changes, so a found value equals that of the first answer. A value stays missing
 * only if the history has been trimmed or compacted since.
 */

import { equalBytes } from "../bytes/index.ts";
import { type KeyChange, type Outcome, type StateReader, type StoredKey, scanHistory } from "./core/index.ts";
import { type CompareAndSwap, type CompareAndSwapResult, readKey } from "./keys/index.ts";
import type { ClientOperation } from "./operations.ts";

/** The outcome of a replay with the missing values that can be found; else the same outcome. */
export function restoreValues(reader: StateReader, operation: ClientOperation, outcome: Outcome): Outcome {
  const { answer, replayed } = outcome;
  if (replayed !== "no-values" || !("kind" in answer)) {
    return outcome;
  }
  if (operation.kind === "compare-and-swap" && answer.kind === "compare-and-swap") {
    const currentValue = currentValueOf(reader, operation, answer);
    return currentValue === undefined ? outcome : { answer: { ...answer, currentValue }, replayed: "yes" };
  }
  if (answer.kind === "put-key" || answer.kind === "delete-key") {
    const change = answer.previous === null ? undefined : changeAt(reader, answer.previous.key, answer.revision);
    const previous = change?.previous ?? undefined;
    return previous === undefined ? outcome : { answer: { ...answer, previous }, replayed: "yes" };
  }
  return outcome;
}

function currentValueOf(
  reader: StateReader,
  { namespace, key, newValue }: CompareAndSwap,
  { success, modRevision }: CompareAndSwapResult,
): Uint8Array | undefined {
  if (success) {
    return newValue;
  }
  const current: StoredKey | undefined = readKey(reader, namespace, key);
  return current?.modRevision === modRevision ? current.value : changeAt(reader, key, modRevision)?.current.value;
}

/**
 * The change of the key at the revision; undefined if the history has dropped it. A revision has at most one change of
 * a key.
 */
function changeAt(reader: StateReader, key: Uint8Array, revision: number): KeyChange | undefined {
  let found: KeyChange | undefined;
  scanHistory(reader, revision, revision, ({ changes }) => {
    found = changes.find(
      (change): change is KeyChange => change.about === "key" && equalBytes(change.current.key, key),
    );
    return false;
  });
  return found;
}
