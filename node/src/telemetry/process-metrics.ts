/** Metrics of a member's process: its versions, its clock, and the delay of its event loop. */

import { SHORT_BOUNDS } from "./duration-histogram.ts";
import type { EventLoopDelay } from "./event-loop-delay.ts";
import { gauge, histogram, type Metric } from "./metric.ts";

const MS_PER_SECOND = 1000;

export interface MeasuredProcess {
  /** Version of the program. */
  readonly version: string;
  readonly wallMs: () => number;
  readonly eventLoopDelay: EventLoopDelay;
}

export const PROCESS_METRICS: readonly Metric<MeasuredProcess>[] = [
  gauge({
    name: "quoin_build_info",
    help: "The versions of the program and of its runtime; always 1.",
    labels: ["version", "node_version"],
    read: ({ version }) => [[[version, process.versions.node], 1]],
  }),
  gauge({
    name: "quoin_clock_seconds",
    help: "Time of day of the member, Unix time in seconds; compare it between members by the time of their scrapes.",
    read: ({ wallMs }) => wallMs() / MS_PER_SECOND,
  }),
  histogram({
    name: "quoin_event_loop_delay_seconds",
    help: "Delay of the event loop, measured every 50 ms.",
    bounds: SHORT_BOUNDS,
    read: ({ eventLoopDelay }) => eventLoopDelay.delays,
  }),
  gauge({
    name: "quoin_event_loop_delay_max_seconds",
    help: "Largest delay of the event loop since the last collection, by any client.",
    read: ({ eventLoopDelay }) => eventLoopDelay.takeLargestMs() / MS_PER_SECOND,
  }),
];
