/**
 * The spans that wait for the exporter: a bounded queue, one batch in flight, a pause between two batches.
 *
 * A batch costs about as much as a hundred spans, whatever it contains. So a batch that is not full waits until the last
 * one is EXPORT_INTERVAL_MS old; after a quiet time, spans are exported at the next call.
 *
 * An exporter that is slow, fails or never answers costs at most this queue. Spans that do not fit are dropped and
 * counted. The pause bounds how many spans a member exports in a second, whatever its clients sample.
 */

import type { Span } from "./span.ts";

/** Sends spans; calls back once, with the error or null. It gives up by itself after a while. */
export interface SpanExporter {
  export(spans: readonly Span[], done: (error: Error | null) => void): void;
  /** Ends connections; resolves when no batch is in flight. */
  shutdown(): Promise<void>;
}

/** The part of a logger that this class needs. */
interface Lines {
  warn(fields: object, message: string): void;
}

export interface SpanQueueOptions {
  readonly exporter: SpanExporter;
  readonly log: Lines;
  readonly monotonicMs: () => number;
}

/** Some 8 MiB. */
const SPANS_MAX = 8_192;
/** A trace needs some ten spans; with less space, none is begun. */
const SPACE_MIN = 64;
const BATCH_MAX = 512;
/** Minimum time between the starts of two batches, unless the second one is full, in milliseconds. */
const EXPORT_INTERVAL_MS = 1_000;
/** Minimum time between two log lines about failures, in milliseconds. */
const LINE_INTERVAL_MS = 60_000;

export class SpanQueue {
  exported = 0;
  failed = 0;
  dropped = 0;
  readonly #options: SpanQueueOptions;
  #spans: Span[] = [];
  /** Called when the batch in flight is over; null = none is in flight. */
  #onExported: (() => void) | null = null;
  #exportAtMs = Number.NEGATIVE_INFINITY;
  #lineAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
  }

  /** Spans that wait, without those in flight. */
  get size(): number {
    return this.#spans.length;
  }

  /** Whether the spans of another trace fit. */
  get hasSpace(): boolean {
    return this.#spans.length <= SPANS_MAX - SPACE_MIN;
  }

  /** Adds spans, as many as fit. */
  add(spans: readonly Span[]): void {
    const fitting = Math.min(spans.length, SPANS_MAX - this.#spans.length);
    for (let at = 0; at < fitting; at++) {
      this.#spans.push(spans[at] as Span);
    }
    this.dropped += spans.length - fitting;
  }

  /** Exports a batch if one is due, and none is in flight. Call it regularly. */
  flush(): void {
    if (this.#onExported === null && this.#isDue()) {
      this.#export(() => undefined);
    }
  }

  /** Exports what waits, for at most `limitMs` milliseconds, and closes the exporter. */
  async stop(limitMs: number): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, limitMs);
    await Promise.race([this.#exportAll(), late]);
    await Promise.race([this.#options.exporter.shutdown(), late]);
    clearTimeout(timer);
  }

  #isDue(): boolean {
    const { length } = this.#spans;
    return length >= BATCH_MAX || (length > 0 && this.#options.monotonicMs() - this.#exportAtMs >= EXPORT_INTERVAL_MS);
  }

  async #exportAll(): Promise<void> {
    if (this.#onExported !== null) {
      await new Promise<void>((resolve) => {
        this.#onExported = resolve;
      });
    }
    while (this.#spans.length > 0) {
      await new Promise<void>((resolve) => this.#export(resolve));
    }
  }

  #export(onExported: () => void): void {
    const { exporter, log, monotonicMs } = this.#options;
    const batch = this.#spans.splice(0, BATCH_MAX);
    this.#onExported = onExported;
    this.#exportAtMs = monotonicMs();
    exporter.export(batch, (error) => {
      const then = this.#onExported;
      this.#onExported = null;
      if (error === null) {
        this.exported += batch.length;
      } else {
        this.failed += batch.length;
        if (monotonicMs() - this.#lineAtMs >= LINE_INTERVAL_MS) {
          this.#lineAtMs = monotonicMs();
          log.warn({ err: error, failed: this.failed }, "spans cannot be exported");
        }
      }
      then?.();
    });
  }
}
