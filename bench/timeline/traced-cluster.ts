/** A cluster that traces every request, and the timelines of puts at it, from the spans that its members export. */

import { setTimeout as sleep } from "node:timers/promises";
import { TraceCollector } from "../../testing/index.ts";
import { QuoinCluster } from "../clusters/index.ts";
import { joinPut, type Put, type Timeline } from "./join.ts";
import { CollectedTraces, TimelineError } from "./put-spans.ts";

/** Members export spans once a second. */
const POLL_MS = 200;
const TIMEOUT_MS = 30_000;
const NS_PER_US = 1_000n;
const US_PER_MS = 1_000;

export class TracedCluster {
  readonly cluster: QuoinCluster;
  readonly #collector: TraceCollector;

  private constructor(cluster: QuoinCluster, collector: TraceCollector) {
    this.cluster = cluster;
    this.#collector = collector;
  }

  /** Starts this many members with their data below the directory. */
  static async start(members: number, directory: string): Promise<TracedCluster> {
    const collector = await TraceCollector.open();
    // Members inherit the environment.
    process.env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL = "http/json";
    const flags = ["--trace-endpoint", collector.endpoint, "--trace-ratio", "1", "--trace-slow-ms", "0"];
    try {
      return new TracedCluster(await QuoinCluster.start(members, directory, flags), collector);
    } catch (error) {
      await collector.close();
      throw error;
    }
  }

  /** Waits for the spans of all puts. Raises a TimelineError if one is still missing after a while, or out of order. */
  async timelines(puts: readonly Put[], interrupted: AbortSignal): Promise<readonly Timeline[]> {
    const originNs = BigInt(Math.round(performance.timeOrigin * US_PER_MS)) * NS_PER_US;
    const deadlineMs = performance.now() + TIMEOUT_MS;
    for (;;) {
      try {
        const traces = new CollectedTraces(this.#collector.spans, originNs);
        return puts.map((put) => joinPut(put, traces, this.cluster.members.length));
      } catch (error) {
        if (!(error instanceof TimelineError) || performance.now() > deadlineMs) {
          throw error;
        }
      }
      await sleep(POLL_MS, undefined, { signal: interrupted });
    }
  }

  async stop(): Promise<void> {
    await this.cluster.stop();
    await this.#collector.close();
  }
}
