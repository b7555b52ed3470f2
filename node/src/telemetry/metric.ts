/**
 * Metrics as the parts of a member define them: a name by the conventions of Prometheus, a meaning, and a function that
 * reads the value from its source. This file counts nothing. Code with frequent events counts them as plain numbers,
 * and a collector reads those.
 *
 * Labels have few values, which the program knows: never a key, a subject, an address or anything else that clients
 * choose. The only exception is namespaces near a limit, which administrators have named: at most twenty at a time.
 */

import { DurationHistogram } from "./duration-histogram.ts";

/** The values of the labels, in order, and the number for them. */
type Labelled<Value> = Iterable<readonly [labels: readonly string[], value: Value]>;

/** One number, or one for each combination of labels; null if there is no value now. */
type Reading<Value> = Value | Labelled<Value> | null;

/** The description of a metric, without its source. */
export interface MetricDescription {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** A sentence. */
  readonly help: string;
  readonly labels: readonly string[];
}

interface NumberMetric<Source> extends MetricDescription {
  readonly type: "counter" | "gauge";
  readonly read: (source: Source) => Reading<number>;
}

interface HistogramMetric<Source> extends MetricDescription {
  readonly type: "histogram";
  readonly bounds: readonly number[];
  readonly read: (source: Source) => Reading<DurationHistogram>;
}

export type Metric<Source> = NumberMetric<Source> | HistogramMetric<Source>;

interface Definition<Source, Value> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly read: (source: Source) => Reading<Value>;
}

/** A number that only grows while the process runs; its name ends with `_total`. */
export function counter<Source>(definition: Definition<Source, number>): Metric<Source> {
  return { type: "counter", labels: [], ...definition };
}

/** A number that goes up and down. */
export function gauge<Source>(definition: Definition<Source, number>): Metric<Source> {
  return { type: "gauge", labels: [], ...definition };
}

/** Durations by bucket; all durations of one metric share these bounds. */
export function histogram<Source>(
  definition: Definition<Source, DurationHistogram> & { readonly bounds: readonly number[] },
): Metric<Source> {
  return { type: "histogram", labels: [], ...definition };
}

/** The values of a reading, as pairs of labels and values. */
export function pairsOf<Value extends number | DurationHistogram>(reading: Reading<Value>): Labelled<Value> {
  if (reading === null) {
    return [];
  }
  return typeof reading === "number" || reading instanceof DurationHistogram
    ? [[[], reading]]
    : (reading as Labelled<Value>);
}
