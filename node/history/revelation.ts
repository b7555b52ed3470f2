/**
 * At which revision each operation wrote, as far as anybody was told: by its own answer, or because somebody met its
 * value, which no other operation wrote.
 */

import type { KeyAnswer, KeyOperation, RecordedOperation } from "./history.ts";

/** The value that the operation writes if it writes; null if it never does. */
export function valueWrittenBy(operation: KeyOperation): string | null {
  switch (operation.kind) {
    case "put":
      return operation.value;
    case "compare-and-swap":
      return operation.newValue;
    case "get":
    case "delete":
      return null;
  }
}

/** The value that an answer says is there, with the revision that wrote it; null if it says none. */
export function shownBy(answer: KeyAnswer): { readonly value: string; readonly modRevision: number } | null {
  switch (answer.kind) {
    case "found":
      return answer;
    case "not-swapped":
      return answer.current;
    default:
      return null;
  }
}

/** Whether an operation that was answered like this has changed the key, so that the answer's revision is its own. */
export function isWrite(answer: KeyAnswer): boolean {
  return answer.kind === "put" || answer.kind === "deleted" || answer.kind === "swapped";
}

/** The revisions at which values were seen to have been written, by key and value. */
export class Revelations {
  readonly #byValue = new Map<string, number>();

  constructor(operations: readonly RecordedOperation[]) {
    for (const { operation, outcome } of operations) {
      const shown = outcome.kind === "ok" ? shownBy(outcome.answer) : null;
      if (shown !== null && !this.#byValue.has(nameOf(operation.key, shown.value))) {
        this.#byValue.set(nameOf(operation.key, shown.value), shown.modRevision);
      }
    }
  }

  /** The revision of an operation of unknown outcome; undefined if nobody met what it wrote. */
  revisionOf(operation: KeyOperation): number | undefined {
    const value = valueWrittenBy(operation);
    return value === null ? undefined : this.#byValue.get(nameOf(operation.key, value));
  }
}

function nameOf(key: string, value: string): string {
  return JSON.stringify([key, value]);
}
