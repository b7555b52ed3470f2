/**
 * Keys with a time to live, as clients see them: each is written once and then only read. It is never gone before its
 * time is up, and never back once it is gone.
 *
 * That it ends soon after its time is no part of this: while nobody leads, time stands still for keys.
 */

import type { OperationOutcome } from "./history.ts";

/** An operation on such a key. */
export interface LifetimeOperation {
  readonly key: string;
  readonly client: string;
  readonly kind: "put" | "get";
  /** Of a put. */
  readonly ttlMs: number;
  /** Times of the recorder's clock, in milliseconds; the end of an operation of unknown outcome is infinite. */
  readonly startMs: number;
  readonly endMs: number;
  readonly outcome: OperationOutcome["kind"];
  /** Whether a get that is ok has found the key. */
  readonly isFound: boolean;
}

/** The cluster counts whole milliseconds: a life is that much shorter at most. */
const RESOLUTION_MS = 1;

/** What contradicts the rules, in words. */
export function lifetimeCheck(operations: readonly LifetimeOperation[]): readonly string[] {
  return [...Map.groupBy(operations, ({ key }) => key).values()].flatMap(checkKey);
}

function checkKey(operations: readonly LifetimeOperation[]): readonly string[] {
  const puts = operations.filter(({ kind }) => kind === "put");
  const [put] = puts;
  if (put === undefined || puts.length > 1) {
    throw new Error(`a key with a time to live is written once, not ${puts.length} times`);
  }
  const reads = operations.filter(({ kind, outcome }) => kind === "get" && outcome === "ok");
  const found = reads.filter(({ isFound }) => isFound);
  const absent = reads.filter(({ isFound }) => !isFound);
  const wrong: string[] = [];
  for (const read of found) {
    if (put.outcome === "not-executed" || read.endMs < put.startMs) {
      wrong.push(describe("found although it was not written", put, read));
    }
  }
  // Whoever has seen the key, or was told of its put, is followed by those who do not see it only when it has ended.
  const seen = [...found, ...(put.outcome === "ok" ? [put] : [])];
  const isThereMs = Math.min(Number.POSITIVE_INFINITY, ...seen.map(({ endMs }) => endMs));
  const gone = absent.filter(({ startMs }) => startMs > isThereMs);
  for (const read of gone) {
    if (read.endMs < put.startMs + put.ttlMs - RESOLUTION_MS) {
      wrong.push(describe("gone before its time", put, read));
    }
  }
  const goneMs = Math.min(Number.POSITIVE_INFINITY, ...gone.map(({ endMs }) => endMs));
  for (const read of found) {
    if (read.startMs > goneMs) {
      wrong.push(describe("back after it was gone", put, read));
    }
  }
  return wrong;
}

function describe(rule: string, put: LifetimeOperation, read: LifetimeOperation): string {
  const at = (ms: number): string => (Number.isFinite(ms) ? (ms - put.startMs).toFixed(3) : "?");
  return (
    `violated: a key with a time to live is ${rule}: ${put.key}, put by ${put.client} for ${put.ttlMs} ms in ` +
    `[0, ${at(put.endMs)}], ${put.outcome}; read by ${read.client} in [${at(read.startMs)}, ${at(read.endMs)}]`
  );
}
