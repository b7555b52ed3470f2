/**
 * One key as the service promises it, operation by operation: the definition that histories are compared with.
 *
 * It knows no clock and no guards: an expiry is an operation like others. The caller passes the revision of each write,
 * because that depends on all other keys.
 */

import type { KeyAnswer, KeyContent, KeyOperation } from "./history.ts";

/** A key that exists, or null. */
export type KeyState = KeyContent | null;

/**
 * The stand-in for the revision of a write that no answer shows: below all real revisions, and equal only to itself.
 */
export function unknownRevision(operationId: number): number {
  return -1 - operationId;
}

/** The state after the operation was executed at this revision; the same object if it changed nothing. */
export function execute(state: KeyState, operation: KeyOperation, revision: number): KeyState {
  switch (operation.kind) {
    case "get":
      return state;
    case "put":
      return written(state, operation.value, revision);
    case "delete":
      return operation.expectedValue === undefined || operation.expectedValue === state?.value ? null : state;
    case "compare-and-swap":
      return matches(state, operation) ? written(state, operation.newValue, revision) : state;
  }
}

/** Why this answer is impossible in this state; null if it is possible. */
export function contradiction(state: KeyState, operation: KeyOperation, answer: KeyAnswer): string | null {
  switch (answer.kind) {
    case "found":
      return contradictionOfFound(state, answer);
    case "absent":
      return state === null ? null : "the key exists";
    case "put":
      if (operation.kind === "compare-and-swap" && !matches(state, operation)) {
        return "the comparison fails";
      }
      if (answer.created === (state === null)) {
        return contradictionOfPrevious(state, answer.previous);
      }
      return answer.created ? "it was not created: it exists" : "it was created: it did not exist";
    case "deleted":
      return state === null ? "there is no key to delete" : contradictionOfPrevious(state, answer.previous);
    case "swapped":
      return operation.kind === "compare-and-swap" && !matches(state, operation) ? "the comparison fails" : null;
    case "not-swapped": {
      if (operation.kind === "compare-and-swap" && matches(state, operation)) {
        return "the comparison holds";
      }
      const { current } = answer;
      if (current === null || state === null) {
        return (current === null) === (state === null) ? null : "the answer is wrong about whether the key exists";
      }
      return contradictionOfContent(state, current);
    }
    case "done":
      return null;
  }
}

function contradictionOfPrevious(state: KeyState, previous: KeyContent | null | undefined): string | null {
  if (previous === undefined) {
    return null;
  }
  return previous === null ? (state === null ? null : "the key existed before") : contradictionOfFound(state, previous);
}

/** Why an answer cannot show this content in this state; null if it can. */
export function contradictionOfFound(state: KeyState, answer: KeyContent): string | null {
  if (state === null) {
    return "the key does not exist";
  }
  const wrongContent = contradictionOfContent(state, answer);
  if (wrongContent !== null) {
    return wrongContent;
  }
  if (answer.version !== state.version) {
    return `the version is ${state.version}`;
  }
  // The revision of the creation may be unknown.
  const isKnown = state.createRevision >= 0;
  return isKnown && answer.createRevision !== state.createRevision
    ? `it was created at revision ${state.createRevision}`
    : null;
}

function contradictionOfContent(
  state: NonNullable<KeyState>,
  content: { readonly value: string; readonly modRevision: number },
): string | null {
  if (content.value !== state.value) {
    return `the value is ${state.value}`;
  }
  return content.modRevision === state.modRevision ? null : `it was written at revision ${state.modRevision}`;
}

function written(state: KeyState, value: string, revision: number): KeyState {
  return {
    value,
    createRevision: state?.createRevision ?? revision,
    modRevision: revision,
    version: (state?.version ?? 0) + 1,
  };
}

/** Whether the comparison holds in this state. */
export function matches(state: KeyState, operation: KeyOperation & { readonly kind: "compare-and-swap" }): boolean {
  const { expectedValue, expectedModRevision } = operation;
  if (expectedValue === undefined && expectedModRevision === undefined) {
    return state === null;
  }
  if (expectedModRevision !== undefined && expectedModRevision !== (state?.modRevision ?? 0)) {
    return false;
  }
  return expectedValue === undefined || state?.value === expectedValue;
}
