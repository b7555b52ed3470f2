/** Counters of a member over time, kept from poll to poll so that each poll asks only for the latest samples. */

import type { CounterSample, MemberCounters } from "../../api/index.ts";

/** The latest state of a member, and its samples of the last minutes. */
export interface MemberSeries {
  readonly member: MemberCounters;
  /** The oldest first. */
  readonly samples: readonly CounterSample[];
}

/** How far back the lines go. */
export const WINDOW_MS = 900_000;
const SECOND_MS = 1_000;

/** Adds newly reported samples to those that are known, without repetitions, and drops those before the window. */
export function mergedSeries(known: readonly MemberSeries[], reported: readonly MemberCounters[]): MemberSeries[] {
  return reported.map((member) => {
    const earlier = known.find((one) => one.member.id === member.id)?.samples ?? [];
    const newest = Number(earlier.at(-1)?.atMs ?? 0);
    const samples = [...earlier, ...member.samples.filter(({ atMs }) => Number(atMs) > newest)];
    const from = Number(samples.at(-1)?.atMs ?? 0) - WINDOW_MS;
    return { member, samples: samples.filter(({ atMs }) => Number(atMs) > from) };
  });
}

/** Requests per second of all kinds, in each sample. */
export function requestRates(samples: readonly CounterSample[]): number[] {
  return samples.map((sample) => {
    const count = sample.requests.reduce((sum, { ok, refused, failed }) => sum + ok + refused + failed, 0);
    return perSecond(count, sample);
  });
}

/** Failed requests per second, in each sample. */
export function failureRates(samples: readonly CounterSample[]): number[] {
  return samples.map((sample) =>
    perSecond(
      sample.requests.reduce((sum, { failed }) => sum + failed, 0),
      sample,
    ),
  );
}

/** The greatest 99th percentile of any kind of request in milliseconds, in each sample; 0 without requests. */
export function latencies(samples: readonly CounterSample[]): number[] {
  return samples.map(({ requests }) => Math.max(0, ...requests.map(({ p99Us }) => Number(p99Us) / SECOND_MS)));
}

/** Processor time as a share of one core, in each sample. */
export function processorShares(samples: readonly CounterSample[]): number[] {
  return samples.map(({ processorUs, intervalMs }) => Number(processorUs) / SECOND_MS / Math.max(1, intervalMs));
}

function perSecond(count: number, { intervalMs }: CounterSample): number {
  return (count * SECOND_MS) / Math.max(1, intervalMs);
}
