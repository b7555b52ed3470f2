/**
 * Transactions in a history of keys. Each compares revisions of keys, and answers with what it has read of all of its
 * keys before it wrote them. So it is one step with one operation for each key: a write that shows the content before,
 * or a read.
 */

import type {
  EndedOperation,
  History,
  KeyAnswer,
  KeyContent,
  KeyOperation,
  OpenOperation,
  OperationOutcome,
} from "./history.ts";

interface TransactedPut {
  readonly kind: "put";
  readonly value: string;
  /** Absent = the value does not expire. */
  readonly ttlMs?: number;
}

/** What a transaction compares and writes of one key. */
export interface TransactedKey {
  readonly key: string;
  /** The revision that the key must have for the transaction to succeed; 0 = it must not exist. Absent = any. */
  readonly expectedModRevision?: number;
  /** The write if it succeeds; null = it only reads the key. A value is written once in a whole history. */
  readonly write: TransactedPut | { readonly kind: "delete" } | null;
}

export interface TransactionAnswer {
  /** Whether all comparisons were true, so that it has written. */
  readonly succeeded: boolean;
  /** That of its writes, or at which it has read. */
  readonly revision: number;
  /** Each key before the writes, in the order of the keys; null = it did not exist. */
  readonly contents: readonly (KeyContent | null)[];
}

/** Records that a client starts a transaction, which names each key once. Call it before anything of it is sent. */
export function beginTransaction(
  history: History,
  client: string,
  keys: readonly TransactedKey[],
): OpenOperation<TransactionAnswer> {
  const asked = keys.map(operationOf);
  const step = history.beginStep(client, asked);
  return {
    end: (outcome) => step.end(keys.map((one, at) => endedOf(one, asked[at] as KeyOperation, at, outcome))),
  };
}

/** What is wrong with the answer by itself, in a few words; null if nothing is. */
export function contradictionOfTransaction(
  keys: readonly TransactedKey[],
  { succeeded, contents }: TransactionAnswer,
): string | null {
  const wrong = keys.find(({ expectedModRevision }, at) => {
    return expectedModRevision !== undefined && expectedModRevision !== (contents[at]?.modRevision ?? 0);
  });
  if (succeeded) {
    return wrong === undefined ? null : `it has succeeded, but the comparison of ${wrong.key} is not true`;
  }
  return wrong === undefined ? "it has not succeeded, but all comparisons are true" : null;
}

/** A comparison matters only where a write depends on it: without an answer, the others are not known to have held. */
function operationOf({ key, expectedModRevision, write }: TransactedKey): KeyOperation {
  switch (write?.kind) {
    case undefined:
      return { kind: "get", key };
    case "delete":
      return { kind: "delete", key };
    case "put": {
      const { value, ttlMs } = write;
      const life = ttlMs === undefined ? {} : { ttlMs };
      return expectedModRevision === undefined
        ? { kind: "put", key, value, ...life }
        : { kind: "compare-and-swap", key, newValue: value, expectedModRevision, ...life };
    }
  }
}

function endedOf(
  { key, write }: TransactedKey,
  asked: KeyOperation,
  at: number,
  outcome: OperationOutcome<TransactionAnswer>,
): EndedOperation {
  if (outcome.kind !== "ok") {
    return { operation: asked, outcome };
  }
  const { succeeded, revision, contents } = outcome.answer;
  const before = contents[at] ?? null;
  const ok = (answer: KeyAnswer): OperationOutcome => ({ kind: "ok", answer });
  if (succeeded && write?.kind === "put") {
    return { operation: asked, outcome: ok({ kind: "put", created: before === null, revision, previous: before }) };
  }
  const isDeleted = succeeded && write?.kind === "delete";
  if (before === null) {
    return { operation: isDeleted ? asked : { kind: "get", key }, outcome: ok({ kind: "absent", revision }) };
  }
  return isDeleted
    ? { operation: asked, outcome: ok({ kind: "deleted", revision, previous: before }) }
    : { operation: { kind: "get", key }, outcome: ok({ kind: "found", ...before, revision }) };
}
