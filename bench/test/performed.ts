/** A scenario, carried out once. */

import type { MeasuredCluster } from "../clusters/index.ts";
import type { LoadResult, Workload } from "../scenarios/index.ts";

/** Longer than any spec takes: what ends a load is the number of operations. */
const LONG_MS = 3_600_000;

/** Prepares the workload, loads the cluster with so many operations, verifies what they left, and closes it all. */
export async function performed(
  workload: Workload,
  cluster: MeasuredCluster,
  concurrency: number,
  operations: number,
): Promise<LoadResult> {
  const leadership = await cluster.findLeader();
  if (leadership === null) {
    throw new Error("nobody leads");
  }
  const { leader } = leadership;
  const connection = await cluster.connect(leader);
  await workload.prepare(connection, concurrency);
  connection.close();
  const load = await workload.open({ cluster, leader, members: cluster.members }, concurrency);
  try {
    const result = await load.run({ ms: LONG_MS, operations }, new AbortController().signal);
    await load.verify();
    return result;
  } finally {
    load.close();
  }
}

/** The error that this ends with, as text; `no error` if it does not. */
export async function failureOf(run: Promise<unknown>): Promise<string> {
  try {
    await run;
  } catch (error) {
    return String(error);
  }
  return "no error";
}
