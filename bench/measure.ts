/** One run: warms a cluster up, loads it, and takes the figures of the load and of every process that had a part in it. */

import { type Connection, type MeasuredCluster, untilLeader } from "./clusters/index.ts";
import { type Bounds, runLoad } from "./load.ts";
import { machineCpuMs, type ProcessUsage, usageOf } from "./process-usage.ts";
import type { Workload } from "./workload.ts";

/** Which members the requests go to. */
export type Target = "leader" | "any";

export interface RunOptions {
  readonly target: Target;
  readonly inFlight: number;
  readonly warmUpMs: number;
  readonly bounds: Bounds;
}

/** A cluster, and what is asked of it. */
export interface Subject {
  readonly cluster: MeasuredCluster;
  readonly workload: Workload;
}

export interface Run {
  readonly system: string;
  readonly inFlight: number;
  readonly operations: number;
  readonly durationMs: number;
  /** One for each operation, ascending. */
  readonly latenciesMs: Float64Array;
  /** CPU time that each member took during the run, and the most memory it ever had; null where that is not known. */
  readonly memberCpuMs: readonly number[] | null;
  readonly memberMemoryBytesMax: readonly number[] | null;
  readonly generatorCpuMs: number;
  /** CPU time of the clusters that ran beside and had nothing to do. */
  readonly idleCpuMs: number | null;
  /** CPU time of everything else on this machine; much of it means that the run was disturbed. */
  readonly otherCpuMs: number | null;
  /** Whether the leader at the end was another than at the beginning; then part of the run was not what was asked for. */
  readonly hasLeaderChanged: boolean;
}

/** Few requests share a connection, as with real clients. */
const IN_FLIGHT_PER_CONNECTION = 4;
const MICROSECONDS_PER_MS = 1000;

/** Runs the workload of `subject`; the `idle` clusters are only watched. Raises an error if any operation was not done. */
export async function measure(
  subject: Subject,
  idle: readonly MeasuredCluster[],
  options: RunOptions,
  interrupted: AbortSignal,
): Promise<Run> {
  const { cluster, workload } = subject;
  const { target, inFlight, warmUpMs, bounds } = options;
  const leader = await untilLeader(cluster, interrupted);
  const members = target === "leader" ? [leader] : cluster.members;
  const connectionsPerMember = Math.ceil(inFlight / IN_FLIGHT_PER_CONNECTION / members.length);
  const connections: Connection[] = [];
  try {
    for (let count = 0; count < connectionsPerMember; count++) {
      for (const member of members) {
        connections.push(await cluster.connect(member));
      }
    }
    await runLoad(workload, connections, inFlight, { ms: warmUpMs, operations: Infinity }, interrupted);
    const revisionBefore = workload.revision;
    const before = readUsage(cluster, idle);
    const { latenciesMs, durationMs } = await runLoad(workload, connections, inFlight, bounds, interrupted);
    const after = readUsage(cluster, idle);
    assertDone(workload, latenciesMs.length, workload.revision - revisionBefore);
    return {
      system: cluster.name,
      inFlight,
      operations: latenciesMs.length,
      durationMs,
      latenciesMs: Float64Array.from(latenciesMs).sort(),
      memberMemoryBytesMax: after.members?.map(({ memoryBytesMax }) => memoryBytesMax) ?? null,
      ...cpuTimes(before, after),
      hasLeaderChanged: (await untilLeader(cluster, interrupted)) !== leader,
    };
  } finally {
    for (const connection of connections) {
      connection.close();
    }
  }
}

/** Raises an error if operations were acknowledged without being done, or did more than they should. */
function assertDone(workload: Workload, operations: number, grown: bigint): void {
  const expected = BigInt(operations) * workload.revisionsPerOperation;
  if (grown !== expected) {
    throw new Error(
      `${operations} operations were acknowledged, but the revision grew by ${grown} instead of ${expected}`,
    );
  }
}

/** What everything had used at one moment. Null where this machine does not tell. */
interface Usage {
  readonly members: readonly ProcessUsage[] | null;
  readonly idleMembers: readonly ProcessUsage[] | null;
  readonly generatorCpuMs: number;
  readonly machineCpuMs: number;
}

function readUsage(cluster: MeasuredCluster, idle: readonly MeasuredCluster[]): Usage {
  const { user, system } = process.cpuUsage();
  return {
    members: usageOfMembers([cluster]),
    idleMembers: usageOfMembers(idle),
    generatorCpuMs: (user + system) / MICROSECONDS_PER_MS,
    machineCpuMs: machineCpuMs(),
  };
}

function usageOfMembers(clusters: readonly MeasuredCluster[]): ProcessUsage[] | null {
  const members = clusters.flatMap((cluster) => cluster.members);
  const usages = members.map(({ pid }) => usageOf(pid)).filter((usage) => usage !== null);
  return usages.length === members.length ? usages : null;
}

type CpuTimes = Pick<Run, "memberCpuMs" | "generatorCpuMs" | "idleCpuMs" | "otherCpuMs">;

function cpuTimes(before: Usage, after: Usage): CpuTimes {
  const memberCpuMs = cpuMsBetween(before.members, after.members);
  const idleCpuMs = cpuMsBetween(before.idleMembers, after.idleMembers);
  const generatorCpuMs = after.generatorCpuMs - before.generatorCpuMs;
  const machineMs = after.machineCpuMs - before.machineCpuMs;
  return {
    memberCpuMs,
    generatorCpuMs,
    idleCpuMs: idleCpuMs && sum(idleCpuMs),
    // Clocks that tick every 10 ms need not add up exactly.
    otherCpuMs: memberCpuMs && idleCpuMs && Math.max(0, machineMs - sum(memberCpuMs) - sum(idleCpuMs) - generatorCpuMs),
  };
}

function cpuMsBetween(before: readonly ProcessUsage[] | null, after: readonly ProcessUsage[] | null): number[] | null {
  return before === null || after === null ? null : after.map(({ cpuMs }, at) => cpuMs - (before[at]?.cpuMs ?? 0));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
