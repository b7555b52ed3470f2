/**
 * The history of the keys of a run, for the oracles that judge histories. It has every operation of a client with the
 * simulated times of its first call and its last answer, and the expiry of keys as deletions by the cluster.
 */

import { type ClientOperation, CoordinationError, type Result, type StoredKey } from "../../src/state/index.ts";
import {
  beginTransaction,
  describeVerdict,
  History,
  type KeyAnswer,
  type KeyContent,
  type KeyOperation,
  type OpenOperation,
  type RecordedOperation,
  searchCheck,
  type TransactedKey,
  type TransactionAnswer,
  type Verdict,
  witnessCheck,
} from "../history/index.ts";
import { must } from "./rule-violation.ts";

/** A key has expired, at some time between the two. */
export interface Expiry {
  readonly key: string;
  readonly revision: number;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/**
 * How often a search may look at its clock, which does not show time: only the history decides the result. About a
 * million steps.
 */
const LOOKS_MAX = 4_000;
const MS_PER_SECOND = 1_000;

export class KeyHistory {
  readonly #history: History;
  readonly #touched = new Set<string>();

  constructor(nowMs: () => number) {
    this.#history = new History(nowMs);
  }

  /** A client begins an operation; null if it is not about a key. */
  begin(client: string, operation: ClientOperation): OpenOperation | null {
    if (operation.kind === "touch-key") {
      this.#touched.add(textOf(operation.key));
    }
    const asked = keyOperationOf(operation);
    return asked === null ? null : this.#history.begin(client, asked);
  }

  beginGet(client: string, key: string): OpenOperation {
    return this.#history.begin(client, { kind: "get", key });
  }

  /** Keys that clients have touched: their values may live longer or shorter than they were written for. */
  get touched(): ReadonlySet<string> {
    return this.#touched;
  }

  /** A client begins a transaction over these keys. */
  beginTransaction(client: string, keys: readonly TransactedKey[]): OpenOperation<TransactionAnswer> {
    return beginTransaction(this.#history, client, keys);
  }

  /** The operations of the clients so far. */
  get operations(): readonly RecordedOperation[] {
    return this.#history.operations;
  }

  /** Throws a RuleViolation if no single copy of the keys could have given these answers. */
  check(expiries: readonly Expiry[]): void {
    const operations = [...this.#history.operations];
    // Numbers are in no history: their values are not distinct.
    const keys = new Set(operations.map(({ operation }) => operation.key));
    for (const { key, revision, notBeforeMs, notAfterMs } of expiries.filter((one) => keys.has(one.key))) {
      operations.push({
        id: operations.length,
        client: "expiry",
        operation: { kind: "delete", key },
        startMs: notBeforeMs,
        endMs: notAfterMs,
        outcome: { kind: "ok", answer: { kind: "deleted", revision } },
      });
    }
    judge("history: answers follow from the revisions that they tell", witnessCheck(operations));
    judge("history: one copy of the keys could have answered so", search(operations));
  }
}

/** The answer of a get that has found a key at the revision. */
export function foundAnswer(stored: StoredKey | undefined, revision: number): KeyAnswer {
  if (stored === undefined) {
    return { kind: "absent" };
  }
  return { kind: "found", ...contentOf(stored), revision };
}

/** The answer in the form of a history; null if the command was executed without a result. */
export function keyAnswerOf(answer: Result | CoordinationError): KeyAnswer | null {
  if (answer instanceof CoordinationError) {
    return answer.reason === "KEY_NOT_FOUND" ? { kind: "absent" } : null;
  }
  switch (answer.kind) {
    case "put-key":
      return { kind: "put", created: answer.created, revision: answer.revision, ...previousOf(answer.previous) };
    case "delete-key":
      return { kind: "deleted", revision: answer.revision, ...previousOf(answer.previous) };
    case "compare-and-swap": {
      const { success, currentExists, currentValue, modRevision, revision } = answer;
      if (success) {
        return { kind: "swapped", revision };
      }
      const current = currentExists ? { value: textOf(currentValue), modRevision } : null;
      return { kind: "not-swapped", current, revision };
    }
    default:
      return null;
  }
}

/** The content before, if it was requested and kept. */
function previousOf(previous: StoredKey | null): { readonly previous?: KeyContent } {
  return previous === null ? {} : { previous: contentOf(previous) };
}

/** A key in the form of a history. */
export function contentOf({ value, createRevision, modRevision, version }: StoredKey): KeyContent {
  return { value: textOf(value), createRevision, modRevision, version };
}

function keyOperationOf(operation: ClientOperation): KeyOperation | null {
  switch (operation.kind) {
    case "put-key":
      return { kind: "put", key: textOf(operation.key), value: textOf(operation.value), ...lifeOf(operation) };
    case "delete-key":
      return { kind: "delete", key: textOf(operation.key) };
    case "compare-and-swap": {
      const { expectedValue } = operation;
      const expected = expectedValue === undefined ? {} : { expectedValue: textOf(expectedValue) };
      return {
        kind: "compare-and-swap",
        key: textOf(operation.key),
        newValue: textOf(operation.newValue),
        ...expected,
        ...lifeOf(operation),
      };
    }
    default:
      return null;
  }
}

function lifeOf({ ttlSeconds }: { readonly ttlSeconds: number }): { readonly ttlMs?: number } {
  return ttlSeconds === 0 ? {} : { ttlMs: ttlSeconds * MS_PER_SECOND };
}

function search(operations: readonly RecordedOperation[]): Verdict {
  let looks = 0;
  const nowMs = (): number => {
    looks++;
    return looks;
  };
  return searchCheck(operations, { nowMs, limitMs: LOOKS_MAX });
}

function judge(rule: string, verdict: Verdict): void {
  must(verdict.kind === "correct", rule, () => describeVerdict(verdict));
}

/** Keys and values in the form of a history. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
