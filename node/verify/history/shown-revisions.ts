/**
 * The revision at which each operation wrote, as far as answers show it: its own answer, or an answer with its value,
 * which no other operation wrote.
 */

import type { KeyAnswer, KeyContent, KeyOperation, RecordedOperation } from "./history.ts";

/** The value that the operation writes if it takes effect; null if it never writes one. */
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

/**
 * The value that an answer shows as present, or as the previous one, with the revision of its write; null if it shows
 * none.
 */
export function shownBy(answer: KeyAnswer): { readonly value: string; readonly modRevision: number } | null {
  return answer.kind === "not-swapped" ? answer.current : contentShownBy(answer);
}

/** The full content that an answer shows as present, or as the previous one; null if it shows none. */
export function contentShownBy(answer: KeyAnswer): KeyContent | null {
  switch (answer.kind) {
    case "found":
      return answer;
    case "put":
    case "deleted":
      return answer.previous ?? null;
    default:
      return null;
  }
}

/** The revision at which an answer is true; undefined if it has none. */
export function revisionAnsweredBy(answer: KeyAnswer): number | undefined {
  return "revision" in answer ? answer.revision : undefined;
}

/** Whether the answer means that the operation has changed the key. Then its revision is that of the change. */
export function isWrite(answer: KeyAnswer): boolean {
  return answer.kind === "put" || answer.kind === "deleted" || answer.kind === "swapped";
}

/** Throws an Error if two operations write the same value to a key: a value must identify its write. */
export function requireDistinctValues(operations: readonly RecordedOperation[]): void {
  const writers = new Map<string, number>();
  for (const { id, operation } of operations) {
    const value = valueWrittenBy(operation);
    if (value !== null) {
      const name = nameOf(operation.key, value);
      const other = writers.get(name);
      if (other !== undefined) {
        throw new Error(`operations ${other} and ${id} both write ${name}`);
      }
      writers.set(name, id);
    }
  }
}

/**
 * The revisions at which the values that answers show were written, by key and value. All operations of a step have the
 * same one.
 */
export class ShownRevisions {
  readonly #byValue = new Map<string, number>();
  readonly #byStep = new Map<number, number>();

  constructor(operations: readonly RecordedOperation[]) {
    for (const { operation, outcome } of operations) {
      const shown = outcome.kind === "ok" ? shownBy(outcome.answer) : null;
      if (shown !== null && !this.#byValue.has(nameOf(operation.key, shown.value))) {
        this.#byValue.set(nameOf(operation.key, shown.value), shown.modRevision);
      }
    }
    for (const { operation, step } of operations) {
      const revision = this.#shownOf(operation);
      if (step !== undefined && revision !== undefined) {
        this.#byStep.set(step, revision);
      }
    }
  }

  /** The revision of an operation of unknown outcome; undefined if no answer shows a value of its step. */
  revisionOf({ operation, step }: Pick<RecordedOperation, "operation" | "step">): number | undefined {
    return this.#shownOf(operation) ?? (step === undefined ? undefined : this.#byStep.get(step));
  }

  #shownOf(operation: KeyOperation): number | undefined {
    const value = valueWrittenBy(operation);
    return value === null ? undefined : this.#byValue.get(nameOf(operation.key, value));
  }
}

function nameOf(key: string, value: string): string {
  return JSON.stringify([key, value]);
}
