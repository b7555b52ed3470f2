/** Tracing of a member as a whole: from the configuration to the timer that makes and exports spans. */

import type { OtlpProtocol } from "./otlp-protocol.ts";
import type { SamplerOptions } from "./sampler.ts";
import { SpanQueue } from "./span-queue.ts";
import { ThreadExporter, type TraceClocks } from "./thread-exporter.ts";
import { TRACE_INTERVAL_MS, Tracer } from "./tracer.ts";

export interface TracingConfiguration {
  /** The URL that takes traces; null = as the environment says. */
  readonly url: string | null;
  readonly protocol: OtlpProtocol;
  readonly sampler: SamplerOptions;
  /** Requests that take at least this many milliseconds are kept, sampled or not; 0 = none for that reason. */
  readonly slowMs: number;
}

/** The member. */
export interface TracedMember {
  readonly version: string;
  readonly member: string;
  readonly cluster: string;
}

/** At the end of the process, exporting may take at most this long, in milliseconds. */
const STOP_MS = 2_000;

export class Tracing {
  readonly tracer: Tracer;
  readonly queue: SpanQueue;
  readonly #timer: NodeJS.Timeout;

  constructor(
    { url, protocol, sampler, slowMs }: TracingConfiguration,
    member: TracedMember,
    clocks: TraceClocks,
    log: { warn(fields: object, message: string): void },
  ) {
    const { monotonicMs } = clocks;
    const exporter = new ThreadExporter({ url, protocol, ...member }, clocks);
    this.queue = new SpanQueue({ exporter, log, monotonicMs });
    this.tracer = new Tracer({ sampler, slowMs, queue: this.queue, monotonicMs });
    this.#timer = setInterval(() => {
      this.tracer.makeSpans();
      this.queue.flush();
    }, TRACE_INTERVAL_MS).unref();
  }

  /** Exports the traces of the calls that have ended, as far as the collector takes them in time. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.tracer.makeSpans(true);
    await this.queue.stop(STOP_MS);
  }
}
