/** Histories written by hand: one line for each operation with its times and its answer. */

import type { KeyAnswer, KeyContent, KeyOperation, OperationOutcome, RecordedOperation } from "./history.ts";

export const UNKNOWN: OperationOutcome = { kind: "unknown" };
export const NOT_EXECUTED: OperationOutcome = { kind: "not-executed" };

/** A line: the request, its start and end in milliseconds, and its outcome. */
export type Line = readonly [KeyOperation, number, number, KeyAnswer | OperationOutcome];

export function historyOf(...lines: readonly Line[]): RecordedOperation[] {
  return lines.map(([operation, startMs, endMs, result], id) => {
    const outcome: OperationOutcome =
      result.kind === "unknown" || result.kind === "not-executed" || result.kind === "ok"
        ? result
        : { kind: "ok", answer: result };
    return {
      id,
      client: `client-${id}`,
      operation,
      startMs,
      endMs: outcome.kind === "unknown" ? Number.POSITIVE_INFINITY : endMs,
      outcome,
    };
  });
}

export const get = (key = "k"): KeyOperation => ({ kind: "get", key });
export const put = (value: string, key = "k"): KeyOperation => ({ kind: "put", key, value });
export const remove = (key = "k"): KeyOperation => ({ kind: "delete", key });

export function swap(
  newValue: string,
  expected: { readonly expectedValue?: string; readonly expectedModRevision?: number } = {},
): KeyOperation {
  return { kind: "compare-and-swap", key: "k", newValue, ...expected };
}

export const absent: KeyAnswer = { kind: "absent" };
/**
 * Answers of writes at their revisions. `previous` is the content before, null if there was none; undefined if the
 * answer does not show it.
 */
export function created(revision: number, previous?: null): KeyAnswer {
  return { kind: "put", created: true, revision, ...(previous === undefined ? {} : { previous }) };
}

export function overwritten(revision: number, previous?: KeyContent): KeyAnswer {
  return { kind: "put", created: false, revision, ...(previous === undefined ? {} : { previous }) };
}

export function deleted(revision: number, previous?: KeyContent): KeyAnswer {
  return { kind: "deleted", revision, ...(previous === undefined ? {} : { previous }) };
}

export const swapped = (revision: number): KeyAnswer => ({ kind: "swapped", revision });

/** What a get shows: value, revisions of creation and last write, and version; read at `revision`. */
export function found(
  value: string,
  [createRevision, modRevision, version]: readonly [number, number, number],
  revision = modRevision,
): KeyAnswer {
  return { kind: "found", value, createRevision, modRevision, version, revision };
}

export function notSwapped(value: string, modRevision: number, revision = modRevision): KeyAnswer {
  return { kind: "not-swapped", current: { value, modRevision }, revision };
}
