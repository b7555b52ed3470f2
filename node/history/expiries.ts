/**
 * Keys whose time is limited, in a history of clients: they come to their end without anybody's doing. For each write
 * with a time to live the end of its value is added as an operation of the cluster, which has its own times and says
 * what the service promises: never early, gone soon after, and once. What happens to a value that was overwritten before
 * is nothing.
 */

import type { RecordedOperation } from "./history.ts";

/** How the clock of the cluster may differ from the recorder's. */
export interface ClockLimits {
  /** How much faster than the recorder's the clock of the cluster may run: 0.01 = by a hundredth. It may run slower too. */
  readonly clockDrift: number;
  /** By how much the cluster may count a time too short or too long because it counts in whole units. */
  readonly clockResolutionMs: number;
}

export interface ExpiryLimits extends ClockLimits {
  /** How long after its time a value may be there still, while there is a leader. */
  readonly lateMsMax: number;
  /** Times without a leader: time stands still for the cluster then. In the order of time, without overlap. */
  readonly leaderless: readonly { readonly fromMs: number; readonly toMs: number }[];
}

/** How long after its time a key may be there still, under a live leader. */
export const EXPIRY_LATE_MS_MAX = 2_000;

/** The operations, and the ends of all values that they limit the time of. */
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
    // Nobody knows when a write of unknown outcome was executed.
    endMs: isUnknown ? Number.POSITIVE_INFINITY : latestEndMs(write.endMs, operation.ttlMs, limits),
    outcome: isUnknown ? { kind: "unknown" } : { kind: "ok", answer: { kind: "done" } },
    consequenceOf: write.id,
  };
}

/** How short a time of the cluster may be for the recorder. */
export function shortestMs(clusterMs: number, { clockDrift, clockResolutionMs }: ClockLimits): number {
  return Math.max(0, clusterMs / (1 + clockDrift) - clockResolutionMs);
}

/** When something must have gone at last whose time began at `fromMs` at the latest. */
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
