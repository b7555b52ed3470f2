/** One run: warms a cluster up, loads it, and takes the figures of the load and of every process involved. */

import { type MeasuredCluster, untilLeader } from "../clusters/index.ts";
import type { Bounds, Workload } from "../scenarios/index.ts";
import { machineCpuMs, type ProcessUsage, usageOf } from "./process-usage.ts";

/** Which members the requests go to. */
export type Target = "leader" | "any";

export interface RunOptions {
  readonly target: Target;
  readonly concurrency: number;
  readonly warmUpMs: number;
  readonly bounds: Bounds;
}

/** A cluster and its workload. */
export interface Subject {
  readonly cluster: MeasuredCluster;
  readonly workload: Workload;
}

export interface Run {
  readonly system: string;
  readonly concurrency: number;
  readonly operations: number;
  /** Duration of the operations, and of the whole run. */
  readonly durationMs: number;
  readonly elapsedMs: number;
  /** The measured times, the most important first. */
  readonly timings: readonly SortedTiming[];
  /** Number of attempts; null if each operation needs one. */
  readonly attempts: number | null;
  /** CPU time of each member during the run, and its maximum memory so far; null if unknown. */
  readonly memberCpuMs: readonly number[] | null;
  readonly memberMemoryBytesMax: readonly number[] | null;
  /**
   * CPU time of the main thread of the member that led when the run began; null if unknown, and for a system without
   * event loops.
   */
  readonly leaderMainCpuMs: number | null;
  /** The largest delay of each member's event loop during the run; null for a system that has none. */
  readonly memberLoopDelayMs: readonly number[] | null;
  readonly generatorCpuMs: number;
  /** CPU time of the idle clusters beside it. */
  readonly idleCpuMs: number | null;
  /** CPU time of everything else on this machine; a large value means that the run was disturbed. */
  readonly otherCpuMs: number | null;
  /** Elections since the run began, warm-up included; with any, part of the run is not representative. */
  readonly elections: number;
}

/** Times of one kind, ascending. */
export interface SortedTiming {
  readonly name: string;
  readonly valuesMs: Float64Array;
}

const MICROSECONDS_PER_MS = 1000;

/** Runs the workload of `subject`; only observes the `idle` clusters. Raises an error if any operation was not done. */
export async function measure(
  { cluster, workload }: Subject,
  idle: readonly MeasuredCluster[],
  { target, concurrency, warmUpMs, bounds }: RunOptions,
  interrupted: AbortSignal,
): Promise<Run> {
  const { leader, term } = await untilLeader(cluster, interrupted);
  const members = target === "leader" ? [leader] : cluster.members;
  const load = await workload.open({ cluster, leader, members }, concurrency);
  try {
    await load.run({ ms: warmUpMs, operations: Infinity }, interrupted);
    // Resets the maximum: the measurement starts here.
    await cluster.takeLoopDelaysMs();
    const before = readUsage(cluster, idle);
    const { timings, generatorCpuMs = 0, ...result } = await load.run(bounds, interrupted);
    const after = readUsage(cluster, idle);
    const memberLoopDelayMs = await cluster.takeLoopDelaysMs();
    await load.verify();
    return {
      system: cluster.name,
      concurrency,
      ...result,
      timings: timings.map(({ name, valuesMs }) => ({ name, valuesMs: Float64Array.from(valuesMs).sort() })),
      memberMemoryBytesMax: after.members?.map(({ memoryBytesMax }) => memoryBytesMax) ?? null,
      memberLoopDelayMs,
      leaderMainCpuMs:
        memberLoopDelayMs && mainThreadMsBetween(before.members, after.members, cluster.members.indexOf(leader)),
      ...cpuTimes(before, after, generatorCpuMs),
      elections: (await untilLeader(cluster, interrupted)).term - term,
    };
  } finally {
    load.close();
  }
}

/** The usage of all processes at one moment. Null if this machine does not report it. */
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

/** @param ownProcessMs processor time of a generator in a separate process. */
function cpuTimes(before: Usage, after: Usage, ownProcessMs: number): CpuTimes {
  const memberCpuMs = cpuMsBetween(before.members, after.members);
  const idleCpuMs = cpuMsBetween(before.idleMembers, after.idleMembers);
  const generatorCpuMs = after.generatorCpuMs - before.generatorCpuMs + ownProcessMs;
  const machineMs = after.machineCpuMs - before.machineCpuMs;
  return {
    memberCpuMs,
    generatorCpuMs,
    idleCpuMs: idleCpuMs && sum(idleCpuMs),
    // Clocks with a tick of 10 ms need not add up exactly.
    otherCpuMs: memberCpuMs && idleCpuMs && Math.max(0, machineMs - sum(memberCpuMs) - sum(idleCpuMs) - generatorCpuMs),
  };
}

function cpuMsBetween(before: readonly ProcessUsage[] | null, after: readonly ProcessUsage[] | null): number[] | null {
  return before === null || after === null ? null : after.map(({ cpuMs }, at) => cpuMs - (before[at]?.cpuMs ?? 0));
}

function mainThreadMsBetween(
  before: readonly ProcessUsage[] | null,
  after: readonly ProcessUsage[] | null,
  at: number,
): number | null {
  const [first, last] = [before?.[at], after?.[at]];
  return first === undefined || last === undefined ? null : last.mainThreadCpuMs - first.mainThreadCpuMs;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
