/**
 * Measures the steps of single puts: one at a time, over all members of a cluster with stamps. Beside it, it measures
 * the same puts on a cluster without stamps.
 *
 * The clusters take turns, a few puts each, so that other work of the machine affects both. Both clusters run the whole
 * time. A missing stamp or an election ends the measurement.
 */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { QuoinCluster, untilLeader } from "../clusters/index.ts";
import { syncMsMedian } from "../measuring/index.ts";
import { writeReport } from "../tables/index.ts";
import { idsOf, joinPut, type Put, type StampedCluster, type StampedMember, type Timeline } from "./join.ts";
import type { TimelineOptions } from "./options.ts";
import { PutClient } from "./puts.ts";
import { jsonReport, markdownReport, type Report, terminalReport } from "./report.ts";
import { readStamps, StampLog, TimelineError } from "./stamp-log.ts";
import { percentilesOf, summarize } from "./summary.ts";

const MEMBERS = 3;
const VALUE_BYTES = 256;
const MS_PER_SECOND = 1000;
/** Puts at each cluster before the turn of the other one; one more put goes before them. */
const PUTS_PER_TURN = 30;
/** A member needs about half as many for a put, including heartbeats. */
const STAMPS_PER_PUT = 64;
/** For stamps around the measured puts. */
const STAMPS_MORE = 4_096;
const DIRECTORY_MODE = 0o700;

/** Raises a TimelineError if the stamps do not show every step of every put. */
export async function runTimeline(options: TimelineOptions, interrupted: AbortSignal): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "quoin-bench-"));
  const stampDirectory = join(directory, "stamps");
  mkdirSync(stampDirectory, { mode: DIRECTORY_MODE });
  const running = new Set<QuoinCluster>();
  const start = async (name: string, nodeFlags: readonly string[]): Promise<QuoinCluster> => {
    const cluster = await QuoinCluster.start(MEMBERS, join(directory, name), nodeFlags);
    running.add(cluster);
    return cluster;
  };
  try {
    const syncMs = syncMsMedian(directory);
    const plain = await start("plain", []);
    const stamped = await start("stamped", ["--import", probeUrl(stampDirectory, options.operations)]);
    const startedAt = new Date();
    const [without, measured] = await measureInTurns([plain, stamped], options, interrupted);
    // Members write the stamps when they end.
    running.delete(stamped);
    await stamped.stop();
    const report: Report = {
      startedAt,
      version: plain.version,
      members: MEMBERS,
      cpus: availableParallelism(),
      valueBytes: VALUE_BYTES,
      syncMs,
      syncMsAfter: syncMsMedian(directory),
      cases: summarize(joinAll(measured, stampDirectory)),
      unstamped: unstampedTimes(without),
    };
    console.log(terminalReport(report));
    writeReport(options, { markdown: () => markdownReport(report), json: () => jsonReport(report) });
  } finally {
    await Promise.all([...running].map((cluster) => cluster.stop()));
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The puts at one cluster, and its leader at that time. */
interface Measured {
  readonly cluster: QuoinCluster;
  readonly leaderPid: number;
  readonly puts: readonly Put[];
}

/** Measures this many puts at each of the two clusters. */
async function measureInTurns(
  clusters: readonly [QuoinCluster, QuoinCluster],
  { operations, warmUpSeconds }: TimelineOptions,
  interrupted: AbortSignal,
): Promise<readonly [Measured, Measured]> {
  const [one, other] = clusters;
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
      { cluster: one, leaderPid: oneLeader, puts: puts[0] },
      { cluster: other, leaderPid: otherLeader, puts: puts[1] },
    ];
  } finally {
    for (const client of clients) {
      client.close();
    }
  }
}

/** The URL of the probe, with its parameters. */
function probeUrl(directory: string, operations: number): string {
  const url = new URL("./probe.ts", import.meta.url);
  url.searchParams.set("directory", directory);
  url.searchParams.set("stamps", String(operations * STAMPS_PER_PUT + STAMPS_MORE));
  return url.href;
}

/** Raises a TimelineError if a stamp is missing. */
function joinAll({ cluster, leaderPid, puts }: Measured, stampDirectory: string): readonly Timeline[] {
  const stamps = readStamps(stampDirectory);
  const logs = new Map(
    cluster.members.map(({ pid }, at) => [pid, new StampLog(`member ${at}`, stamps.get(pid) ?? [])]),
  );
  const followers: StampedMember[] = [];
  let leaderId = 0;
  for (const [pid, log] of logs) {
    if (pid !== leaderPid) {
      const ids = idsOf(log);
      leaderId = ids.leader;
      followers.push({ id: ids.follower, log });
    }
  }
  const leader: StampedMember = { id: leaderId, log: logs.get(leaderPid) as StampLog };
  const members: StampedCluster = { leader, followers };
  return puts.map((put) => {
    const asked = put.pid === leaderPid ? leader : followers.find(({ log }) => log === logs.get(put.pid));
    return joinPut(put, asked as StampedMember, members);
  });
}

/** The times of the puts without stamps, by the role of the asked member. */
function unstampedTimes({ leaderPid, puts }: Measured): Report["unstamped"] {
  const times = (isLeader: boolean): readonly number[] =>
    puts.filter(({ pid }) => (pid === leaderPid) === isLeader).map(({ sentNs, answeredNs }) => answeredNs - sentNs);
  return { leader: percentilesOf(times(true)), follower: percentilesOf(times(false)) };
}
