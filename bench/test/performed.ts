/** Performs a scenario once. */

import type { MeasuredCluster } from "../clusters/index.ts";
import type { LoadResult, Workload } from "../scenarios/index.ts";

/** Longer than any spec: the number of operations ends a load. */
const LONG_MS = 3_600_000;

/** Prepares the workload, runs this many operations, verifies their results, and closes everything. */
export async function performed(
  workload: Workload,
  cluster: MeasuredCluster,
  concurrency: number,
  operations: number,
): Promise<LoadResult> {
  const leadership = await cluster.findLeader();
  if (leadership === null) {
    throw new Error("no member leads");
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

/** The error of the run, as text; `no error` if there is none. */
export async function failureOf(run: Promise<unknown>): Promise<string> {
  try {
    await run;
  } catch (error) {
    return String(error);
  }
  return "no error";
}
