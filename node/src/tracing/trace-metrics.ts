/** Metrics of the traces of a member. A member without tracing has no values. */

import { counter, gauge, type Metric } from "../telemetry/index.ts";
import type { SpanQueue } from "./span-queue.ts";
import type { Tracer } from "./tracer.ts";

export interface TraceStatistics {
  readonly tracer: Pick<Tracer, "kept" | "dropped">;
  readonly queue: Pick<SpanQueue, "size" | "exported" | "failed" | "dropped">;
}

export const TRACE_METRICS: readonly Metric<TraceStatistics | null>[] = [
  counter({
    name: "quoin_traces_kept_total",
    help: "Requests whose trace this member has kept, because it was sampled or because the request was slow.",
    labels: ["reason"],
    read: (source) => (source === null ? null : Object.entries(source.tracer.kept).map(([reason, n]) => [[reason], n])),
  }),
  counter({
    name: "quoin_traces_dropped_total",
    help: "Kept traces without spans of this member, because too many requests were slow or too many spans waited.",
    read: (source) => source?.tracer.dropped ?? null,
  }),
  counter({
    name: "quoin_trace_spans_total",
    help: "Spans by their fate: exported; failed, because the collector did not take them; dropped, because the queue was full.",
    labels: ["result"],
    read: (source) =>
      source === null
        ? null
        : [
            [["exported"], source.queue.exported],
            [["failed"], source.queue.failed],
            [["dropped"], source.queue.dropped],
          ],
  }),
  gauge({
    name: "quoin_trace_spans_waiting",
    help: "Spans that wait to be exported.",
    read: (source) => source?.queue.size ?? null,
  }),
];
