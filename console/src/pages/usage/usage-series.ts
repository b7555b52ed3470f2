/** Usage as a series without gaps, for charts. */

import type { Usage, UsageNumbers } from "../../api/index.ts";

/** What a chart can show, with its name for people. */
export const MEASURES = [
  ["requests", "Requests"],
  ["kv_operations", "Key operations"],
  ["lock_operations", "Lock operations"],
  ["memory_operations", "Memory operations"],
  ["events_appended", "Events appended"],
  ["bytes_appended", "Bytes appended"],
] as const satisfies readonly (readonly [keyof UsageNumbers, string])[];

export type Measure = (typeof MEASURES)[number][0];

export interface UsagePoint {
  readonly label: string;
  readonly value: number;
}

const HOUR_MS = 3_600_000;
const STEPS_MS = { hour: HOUR_MS, day: 24 * HOUR_MS };
/** Characters of an ISO time that name its day, and its hour. */
const LABEL_END = { hour: 16, day: 10 };

/** One point for each hour or day of the period, in UTC; members leave out those without usage. */
export function usageSeries(usage: Usage, granularity: "hour" | "day", measure: Measure): UsagePoint[] {
  const step = STEPS_MS[granularity];
  const values = new Map(usage.buckets.map((bucket) => [Date.parse(bucket.start), bucket[measure]]));
  const points: UsagePoint[] = [];
  const first = Math.floor(Date.parse(usage.period.start) / step) * step;
  for (let atMs = first; atMs < Date.parse(usage.period.end); atMs += step) {
    const label = new Date(atMs).toISOString().slice(0, LABEL_END[granularity]).replace("T", " ");
    points.push({ label, value: values.get(atMs) ?? 0 });
  }
  return points;
}
