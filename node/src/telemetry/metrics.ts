/**
 * All metrics of a member for Prometheus: those of its parts, and those of its process.
 *
 * A request for the metrics collects them, at most every tenth of a second. So readers cannot keep a member busy.
 */

import { collectDefaultMetrics, type Gauge, Registry } from "prom-client";
import type { DurationHistogram } from "./duration-histogram.ts";
import { type Metric, type MetricDescription, pairsOf } from "./metric.ts";

/** A younger answer is returned again; in milliseconds. */
const FRESH_MS = 100;

/** Gauges of the library whose names wrongly end like those of counters. */
const MISNAMED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];
/**
 * Gauges of a timer that wakes the process up a hundred times a second, to measure the same as `EventLoopDelay`. The
 * library always starts the timer; with this precision it never fires.
 */
const WAKEFUL = ["min", "max", "mean", "stddev", "p50", "p90", "p99"].map((of) => `nodejs_eventloop_lag_${of}_seconds`);
const NEVER_MS = 2 ** 31 - 1;

/** One line of the output. */
interface Sample {
  /** The name, if it differs from the metric's name. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export class Metrics {
  readonly #registry = new Registry();
  readonly #monotonicMs: () => number;
  #latest: { readonly text: Promise<string>; readonly atMs: number } | null = null;

  /** @param monotonicMs milliseconds that never decrease. */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** The media type of the text. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Adds metrics; each collection reads them from the source. Raises an error for a name that is already in use. */
  add<Source>(metrics: readonly Metric<Source>[], source: Source): void {
    for (const metric of metrics) {
      const { name, help, type } = metric;
      const get = async () => ({ name, help, type, values: samplesOf(metric, source), aggregator: "sum" });
      // The registry uses only the name of a metric and the result of `get`, but its types require a complete metric.
      this.#registry.registerMetric({ name, get } as unknown as Gauge);
    }
  }

  /** Adds the metrics of the process and its runtime. */
  addProcess(): void {
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: NEVER_MS });
    for (const name of [...MISNAMED, ...WAKEFUL]) {
      this.#registry.removeSingleMetric(name);
    }
  }

  /** All metrics as text, current or a moment old. Rejects with the error of a reading. */
  metrics(): Promise<string> {
    const nowMs = this.#monotonicMs();
    if (this.#latest === null || nowMs - this.#latest.atMs > FRESH_MS) {
      this.#latest = { text: this.#registry.metrics(), atMs: nowMs };
    }
    return this.#latest.text;
  }
}

function samplesOf<Source>(metric: Metric<Source>, source: Source): Sample[] {
  if (metric.type === "histogram") {
    return [...pairsOf(metric.read(source))].flatMap(([values, durations]) => {
      return bucketsOf(metric.name, labelled(metric, values), durations);
    });
  }
  return [...pairsOf(metric.read(source))].map(([values, value]) => ({ labels: labelled(metric, values), value }));
}

function labelled({ labels }: MetricDescription, values: readonly string[]): Record<string, string> {
  return Object.fromEntries(labels.map((name, at) => [name, values[at] ?? ""]));
}

/** Each bucket together with all smaller ones, as Prometheus requires. */
function bucketsOf(
  name: string,
  labels: Record<string, string>,
  { bounds, counts, sumSeconds }: DurationHistogram,
): Sample[] {
  let count = 0;
  const buckets = counts.map((inBucket, at) => {
    count += inBucket;
    const le = at < bounds.length ? String(bounds[at]) : "+Inf";
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sumSeconds },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
