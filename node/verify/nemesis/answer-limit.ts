/**
 * How long the clients of a run wait for an answer. It is shorter than an election, so that operations during a fault have
 * unknown outcomes. On a machine that is busy with other work it is longer: else the run would acknowledge nothing.
 */

import type { ClusterUnderTest } from "../../test/harness/index.ts";

const LIMIT_MS_MIN = 200;
const LIMIT_MS_MAX = 2_000;
/** A write takes so much longer beside the loads of a run than alone. */
const FACTOR = 10;
const WRITES = 20;
const WRITE_TIMEOUT_MS = 30_000;

/** Measures writes of a cluster without load. */
export async function answerLimitMs(cluster: ClusterUnderTest): Promise<number> {
  const { keyValue } = cluster.client();
  const durationsMs: number[] = [];
  for (let at = 0; at < WRITES; at++) {
    const startMs = performance.now();
    await keyValue.put("default", "measured", String(at), { timeoutMs: WRITE_TIMEOUT_MS });
    durationsMs.push(performance.now() - startMs);
  }
  return limitFor(durationsMs);
}

/** The limit for writes that took these times alone. */
export function limitFor(durationsMs: readonly number[]): number {
  const median = durationsMs.toSorted((one, other) => one - other)[durationsMs.length >> 1] ?? 0;
  return Math.ceil(Math.min(Math.max(LIMIT_MS_MIN, FACTOR * median), LIMIT_MS_MAX));
}
