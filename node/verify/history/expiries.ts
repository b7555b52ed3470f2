/**
 * Expiry of keys in a history of clients. For each write with a TTL, it adds the end of the value as an operation of
 * the cluster. The times of that operation state what the service promises: never early, gone soon after, and once. The
 * end of a value that was overwritten earlier changes nothing.
 */

import type { RecordedOperation } from "./history.ts";

/** How the clock of the cluster may differ from the recorder's. */
export interface ClockLimits {
  /** How much faster than the recorder's clock the cluster's may run: 0.01 = by a hundredth. It may also run slower. */
  readonly clockDrift: number;
  /** By how much the cluster may measure a time too short or too long because it counts whole units. */
  readonly clockResolutionMs: number;
}

export interface ExpiryLimits extends ClockLimits {
  /** How long a value may outlive its TTL while there is a leader. */
  readonly lateMsMax: number;
  /** Spans without a leader, when the cluster's clock stands still. In the order of time, without overlap. */
  readonly leaderless: readonly { readonly fromMs: number; readonly toMs: number }[];
}

/** How long a key may outlive its TTL under a live leader. */
export const EXPIRY_LATE_MS_MAX = 2_000;

/** Returns the operations, with an operation for the end of each value that has a TTL. */
export function withExpiries(
  operations: readonly RecordedOperation[],
  limits: ExpiryLimits,
): readonly RecordedOperation[] {
  let id = operations.reduce((max, operation) => Math.max(max, operation.id), -1);
  const expiries = operations.flatMap((write) => {
    id++;
    return expiryOf(write, id, limits) ?? [];
  });
  return [...operations, ...expiries];
}

function expiryOf(write: RecordedOperation, id: number, limits: ExpiryLimits): RecordedOperation | null {
  const { operation, outcome } = write;
  if (operation.kind === "get" || operation.kind === "delete" || operation.ttlMs === undefined) {
    return null;
  }
  const isUnknown = outcome.kind === "unknown";
  const isExecuted = outcome.kind === "ok" && (outcome.answer.kind === "put" || outcome.answer.kind === "swapped");
  if (!isUnknown && !isExecuted) {
    return null;
  }
  return {
    id,
    client: "expiry",
    operation: {
      kind: "delete",
      key: operation.key,
      expectedValue: operation.kind === "put" ? operation.value : operation.newValue,
    },
    startMs: write.startMs + shortestMs(operation.ttlMs, limits),
    // The time at which a write of unknown outcome was executed is not known.
    endMs: isUnknown ? Number.POSITIVE_INFINITY : latestEndMs(write.endMs, operation.ttlMs, limits),
    outcome: isUnknown ? { kind: "unknown" } : { kind: "ok", answer: { kind: "done" } },
    consequenceOf: write.id,
  };
}

/** The shortest that a time of the cluster may be on the recorder's clock. */
export function shortestMs(clusterMs: number, { clockDrift, clockResolutionMs }: ClockLimits): number {
  return Math.max(0, clusterMs / (1 + clockDrift) - clockResolutionMs);
}

/** What a client knows from an answer: when it sent the request, and for how long the thing lives at least. */
export interface KnownLife {
  readonly sentMs: number;
  readonly lifeMs: number;
}

/** Until when the thing certainly lives (S23): the cluster got the request after it was sent. */
export function knownUntilMs({ sentMs, lifeMs }: KnownLife, limits: ClockLimits): number {
  return sentMs + shortestMs(lifeMs, limits);
}

/** The latest time at which a value may still exist if its TTL began at `fromMs` at the latest. */
export function latestEndMs(fromMs: number, ttlMs: number, limits: ExpiryLimits): number {
  const { clockDrift, clockResolutionMs, lateMsMax, leaderless } = limits;
  let endMs = fromMs + ttlMs * (1 + clockDrift) + clockResolutionMs + lateMsMax;
  for (const span of leaderless) {
    if (span.toMs > fromMs && span.fromMs <= endMs) {
      endMs += span.toMs - Math.max(span.fromMs, fromMs);
    }
  }
  return endMs;
}
