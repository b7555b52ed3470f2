/** Measures clusters in turns: each point of a scenario in the order A B B A. */

import { type MeasuredCluster, untilLeader } from "../clusters/index.ts";
import type { Scenario } from "../scenarios/index.ts";
import { measure, type Run, type RunOptions, type Subject } from "./measure.ts";
import { compare, interleave, type Point, type Ratio, summarize } from "./summary.ts";

/** The result of one point. */
export interface MeasuredPoint {
  readonly runs: readonly Run[];
  /** For each cluster, in order. */
  readonly points: readonly Point[];
  /** The first cluster's figures divided by the second's; null with only one cluster. */
  readonly ratio: Ratio | null;
}

/** Writes the data that the runs of a scenario need into each cluster. */
export async function prepare(
  scenario: Scenario,
  clusters: readonly MeasuredCluster[],
  options: { readonly valueBytes: number; readonly concurrencyMax: number },
  interrupted: AbortSignal,
): Promise<Subject[]> {
  const subjects: Subject[] = [];
  for (const cluster of clusters) {
    const workload = scenario.createWorkload(options.valueBytes);
    const { leader } = await untilLeader(cluster, interrupted);
    const connection = await cluster.connect(leader);
    try {
      await workload.prepare(connection, options.concurrencyMax);
    } finally {
      connection.close();
    }
    subjects.push({ cluster, workload });
  }
  return subjects;
}

/** Measures one point. Reports each run as it ends. */
export async function measurePoint(
  subjects: readonly Subject[],
  options: RunOptions,
  onRun: (run: Run) => void,
  interrupted: AbortSignal,
): Promise<MeasuredPoint> {
  const runs: Run[] = [];
  for (const subject of interleave(subjects)) {
    const idle = subjects.filter((other) => other !== subject).map(({ cluster }) => cluster);
    const run = await measure(subject, idle, options, interrupted);
    onRun(run);
    runs.push(run);
  }
  const points = subjects.map(({ cluster }) =>
    summarize(runs.filter(({ system }) => system === cluster.name) as [Run, ...Run[]]),
  );
  const [ours, theirs] = points;
  return { runs, points, ratio: ours !== undefined && theirs !== undefined ? compare(ours, theirs) : null };
}
