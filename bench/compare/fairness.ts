/** Whether two clusters may be compared: figures of a side that does less work are worse than none. */

import { readFileSync } from "node:fs";
import type { MeasuredCluster, MemberReport, StreamReport } from "../clusters/index.ts";

/** The comparison would not be fair; the message explains why in one line. */
export class UnfairError extends Error {}

export const MEMBERS = 3;
/** No disk makes 4 KiB durable in less time, in milliseconds: such a disk only pretends to. */
const SYNC_MS_MIN = 0.02;

/** How the members of a system must run. */
interface Rules {
  /** Flags that a member must have, and flags that it must not have. */
  readonly needed: readonly string[];
  readonly refused: readonly string[];
  /** Whether its members must report their settings. */
  readonly reports: boolean;
}

/** By name of the system. */
const RULES: Readonly<Record<string, Rules>> = {
  quoin: { needed: ["--rate-limit grpc=0", "--rate-limit http=0"], refused: [], reports: false },
  etcd: { needed: [], refused: ["--unsafe-no-fsync"], reports: false },
  nats: { needed: [], refused: [], reports: true },
};

/**
 * Raises an UnfairError unless all of these hold. Each cluster has three members that serve under its flags. The
 * members that report their settings sync every write. The streams that they report have three replicas in files. The
 * disk below them syncs.
 *
 * @param streamsMin how many streams a system that reports its settings must have by now.
 * @param commandLineOf the arguments of a process, separated by spaces; null if there is no such process.
 */
export async function requireFair(
  clusters: readonly MeasuredCluster[],
  syncMs: number,
  streamsMin: number,
  commandLineOf: (pid: number) => string | null = readCommandLine,
): Promise<void> {
  const faults = (await Promise.all(clusters.map((cluster) => faultsOf(cluster, streamsMin, commandLineOf)))).flat();
  if (syncMs < SYNC_MS_MIN) {
    faults.push(
      `the disk takes ${syncMs.toFixed(3)} ms to sync, so it does not: set TMPDIR to a folder on a real disk`,
    );
  }
  if (faults.length > 0) {
    throw new UnfairError(faults.join("; "));
  }
}

async function faultsOf(
  cluster: MeasuredCluster,
  streamsMin: number,
  commandLineOf: (pid: number) => string | null,
): Promise<readonly string[]> {
  const { name, members } = cluster;
  const faults: string[] = [];
  if (new Set(members.map(({ pid }) => pid)).size !== MEMBERS) {
    faults.push(`${name} has ${members.length} members, not ${MEMBERS}`);
  }
  const rules = RULES[name];
  if (rules === undefined) {
    return [...faults, `the required configuration of ${name} is unknown`];
  }
  for (const { pid, endpoint } of members) {
    const commandLine = commandLineOf(pid);
    if (commandLine === null) {
      faults.push(`the command line of ${name} at ${endpoint} cannot be read`);
      continue;
    }
    for (const flag of rules.needed.filter((needed) => !commandLine.includes(needed))) {
      faults.push(`${name} at ${endpoint} runs without ${flag}`);
    }
    for (const flag of rules.refused.filter((refused) => commandLine.includes(refused))) {
      faults.push(`${name} at ${endpoint} runs with ${flag}`);
    }
  }
  return rules.reports ? [...faults, ...reportedFaults(name, await cluster.readReports(), streamsMin)] : faults;
}

function reportedFaults(name: string, reports: readonly MemberReport[] | null, streamsMin: number): readonly string[] {
  if (reports === null) {
    return [`the members of ${name} do not report their settings`];
  }
  const streams = new Set(reports.flatMap((report) => report.streams.map((stream) => stream.name)));
  const faults = streams.size < streamsMin ? [`${name} has ${streams.size} streams, not ${streamsMin} or more`] : [];
  for (const { endpoint, isSynced, clusterSize, streams: held } of reports) {
    const member = `${name} at ${endpoint}`;
    if (!isSynced) {
      faults.push(`${member} does not sync every write`);
    }
    if (clusterSize !== MEMBERS) {
      faults.push(`${member} is in a cluster of ${clusterSize}, not ${MEMBERS}`);
    }
    for (const stream of streams) {
      faults.push(
        ...streamFaults(held.find((other) => other.name === stream)).map(
          (fault) => `${member}: stream ${stream} ${fault}`,
        ),
      );
    }
  }
  return faults;
}

function streamFaults(stream: StreamReport | undefined): readonly string[] {
  if (stream === undefined) {
    return ["has no replica there"];
  }
  return [
    ...(stream.replicas === MEMBERS ? [] : [`has ${stream.replicas} replicas, not ${MEMBERS}`]),
    ...(stream.isInFiles ? [] : ["is not kept in files"]),
    ...(stream.isAsynchronous ? ["is not synced before it is acknowledged"] : []),
  ];
}

function readCommandLine(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return null;
  }
}
