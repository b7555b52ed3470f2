/**
 * Metrics as the rooms of a member define them: a name in the conventions of Prometheus, what it means, and how it is
 * read from whatever has it. Nothing is counted here: what happens often is counted as plain numbers where it happens,
 * and read when somebody asks.
 *
 * Labels have few values, which the program knows: never a key, a subject, an address or anything else that clients
 * choose. The one exception are namespaces near a limit, which administrators have named: at most twenty at a time.
 */

import { Durations } from "./durations.ts";

/** Values of the labels, in their order, and the number for them. */
type Labelled<Value> = Iterable<readonly [labels: readonly string[], value: Value]>;

/** One number, or one for each combination of labels; null where there is nothing to tell at the moment. */
type Reading<Value> = Value | Labelled<Value> | null;

/** What is known of a metric without anything to read it from. */
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
  readonly read: (source: Source) => Reading<Durations>;
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

/** Durations by bucket; all of one metric have these bounds. */
export function histogram<Source>(
  definition: Definition<Source, Durations> & { readonly bounds: readonly number[] },
): Metric<Source> {
  return { type: "histogram", labels: [], ...definition };
}

/** What was read, as pairs of labels and values. */
export function pairsOf<Value extends number | Durations>(reading: Reading<Value>): Labelled<Value> {
  if (reading === null) {
    return [];
  }
  return typeof reading === "number" || reading instanceof Durations ? [[[], reading]] : (reading as Labelled<Value>);
}
