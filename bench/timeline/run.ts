/**
 * Measures the steps of single puts: one at a time, over all members of a cluster that traces every request. Beside it,
 * it measures the same puts on a cluster without traces.
 *
 * The clusters take turns, a few puts each, so that other work of the machine affects both. Both clusters run the whole
 * time. A missing span or an election ends the measurement.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { QuoinCluster, untilLeader } from "../clusters/index.ts";
import { syncMsMedian } from "../measuring/index.ts";
import { writeReport } from "../tables/index.ts";
import type { Put } from "./join.ts";
import type { TimelineOptions } from "./options.ts";
import { TimelineError } from "./put-spans.ts";
import { PutClient } from "./puts.ts";
import { jsonReport, markdownReport, type Report, terminalReport } from "./report.ts";
import { percentilesOf, summarize } from "./summary.ts";
import { TracedCluster } from "./traced-cluster.ts";

const MEMBERS = 3;
const VALUE_BYTES = 256;
const MS_PER_SECOND = 1000;
/** Puts at each cluster before the turn of the other one; one more put goes before them. */
const PUTS_PER_TURN = 30;

/** Raises a TimelineError if the spans do not show every step of every put. */
export async function runTimeline(options: TimelineOptions, interrupted: AbortSignal): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "quoin-bench-"));
  const running: { stop(): Promise<void> }[] = [];
  try {
    const syncMs = syncMsMedian(directory);
    const plain = await QuoinCluster.start(MEMBERS, join(directory, "plain"));
    running.push(plain);
    const traced = await TracedCluster.start(MEMBERS, join(directory, "traced"));
    running.push(traced);
    const startedAt = new Date();
    const [without, measured] = await measureInTurns([plain, traced.cluster], options, interrupted);
    const report: Report = {
      startedAt,
      version: plain.version,
      members: MEMBERS,
      cpus: availableParallelism(),
      valueBytes: VALUE_BYTES,
      syncMs,
      syncMsAfter: syncMsMedian(directory),
      cases: summarize(await traced.timelines(measured.puts, interrupted)),
      untraced: untracedTimes(without),
    };
    console.log(terminalReport(report));
    writeReport(options, { markdown: () => markdownReport(report), json: () => jsonReport(report) });
  } finally {
    await Promise.all(running.map((cluster) => cluster.stop()));
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The puts at one cluster, and its leader at that time. */
interface Measured {
  readonly leaderPid: number;
  readonly puts: readonly Put[];
}

/** Measures this many puts at each of the two clusters. */
async function measureInTurns(
  clusters: readonly [QuoinCluster, QuoinCluster],
  { operations, warmUpSeconds }: TimelineOptions,
  interrupted: AbortSignal,
): Promise<readonly [Measured, Measured]> {
  const clients: PutClient[] = [];
  try {
    for (const cluster of clusters) {
      const client = await PutClient.open(cluster, VALUE_BYTES);
      clients.push(client);
      await client.run({ ms: warmUpSeconds * MS_PER_SECOND, operations: Infinity }, interrupted);
    }
    const leaders = await Promise.all(clusters.map((cluster) => untilLeader(cluster, interrupted)));
    const puts: [Put[], Put[]] = [[], []];
    for (let left = operations; left > 0; left -= PUTS_PER_TURN) {
      for (const [at, client] of clients.entries()) {
        const bounds = { ms: Infinity, operations: Math.min(left, PUTS_PER_TURN) };
        puts[at]?.push(...(await client.run(bounds, interrupted)));
      }
    }
    const [before, after] = [leaders, await Promise.all(clusters.map((cluster) => untilLeader(cluster, interrupted)))];
    if (before.some(({ term }, at) => term !== after[at]?.term)) {
      throw new TimelineError("there was an election meanwhile; measure again");
    }
    const [oneLeader, otherLeader] = before.map(({ leader }) => leader.pid) as [number, number];
    return [
      { leaderPid: oneLeader, puts: puts[0] },
      { leaderPid: otherLeader, puts: puts[1] },
    ];
  } finally {
    for (const client of clients) {
      client.close();
    }
  }
}

/** The times of the puts without traces, by the role of the asked member. */
function untracedTimes({ leaderPid, puts }: Measured): Report["untraced"] {
  const times = (isLeader: boolean): readonly number[] =>
    puts.filter(({ pid }) => (pid === leaderPid) === isLeader).map(({ sentNs, answeredNs }) => answeredNs - sentNs);
  return { leader: percentilesOf(times(true)), follower: percentilesOf(times(false)) };
}
