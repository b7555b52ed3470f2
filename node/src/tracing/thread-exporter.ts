/**
 * Exports spans in a thread of its own (`export-thread.ts`). If the thread ends, its batch has failed. Another thread
 * starts after a pause, because a start costs much more than a batch; until then all batches fail. The thread never keeps
 * the process from ending.
 */

import { Worker } from "node:worker_threads";
import type { ExportReply, ExportRequest, ExportThreadData } from "./export-thread.ts";
import type { OtlpOptions } from "./otlp-exporter.ts";
import type { Span } from "./span.ts";
import type { SpanExporter } from "./span-queue.ts";

/** The clocks of a member, in milliseconds. */
export interface TraceClocks {
  readonly monotonicMs: () => number;
  readonly wallMs: () => number;
  /** The wall clock at the start of the monotonic clock. Unlike the wall clock, it has fractions. */
  readonly originMs: number;
}

/** The spans follow the wall clock when they differ from it by more than this. */
const CLOCK_STEP_MS = 5;
/** Minimum time between the starts of two threads, in milliseconds. */
const START_INTERVAL_MS = 10_000;
/** MiB. A batch has about one. */
const HEAP = { maxOldGenerationSizeMb: 64 };

export class ThreadExporter implements SpanExporter {
  readonly #options: OtlpOptions;
  readonly #clocks: TraceClocks;
  #worker: Worker | null = null;
  #startedMs = Number.NEGATIVE_INFINITY;
  #offsetMs: number;
  /** Takes the answer to the batch in flight. */
  #done: ((error: Error | null) => void) | null = null;

  constructor(options: OtlpOptions, clocks: TraceClocks) {
    this.#options = options;
    this.#clocks = clocks;
    this.#offsetMs = clocks.originMs;
  }

  export(spans: readonly Span[], done: (error: Error | null) => void): void {
    const offsetMs = this.#clocks.wallMs() - this.#clocks.monotonicMs();
    if (Math.abs(offsetMs - this.#offsetMs) > CLOCK_STEP_MS) {
      this.#offsetMs = offsetMs;
    }
    const nowMs = this.#clocks.monotonicMs();
    if (this.#worker === null && nowMs - this.#startedMs < START_INTERVAL_MS) {
      done(new Error("the thread that exports spans has ended, and the next one is not due"));
      return;
    }
    this.#done = done;
    try {
      this.#worker ??= this.#start(nowMs);
      this.#post(this.#worker, { spans, offsetMs: this.#offsetMs });
    } catch (error) {
      // A process without memory for another thread, for example, serves as before.
      this.#answer(toError(error));
    }
  }

  async shutdown(): Promise<void> {
    const worker = this.#worker;
    if (worker !== null) {
      const ended = new Promise((resolve) => worker.once("exit", resolve));
      this.#post(worker, "shutdown");
      await ended;
    }
  }

  #post(worker: Worker, request: ExportRequest): void {
    worker.postMessage(request);
  }

  #start(nowMs: number): Worker {
    this.#startedMs = nowMs;
    const data: ExportThreadData = { options: this.#options };
    const worker = new Worker(new URL("./export-thread.ts", import.meta.url), {
      name: "traces",
      workerData: data,
      resourceLimits: HEAP,
    });
    worker.unref();
    worker.on("message", ({ problem }: ExportReply) => this.#answer(problem === null ? null : new Error(problem)));
    worker.on("error", (error) => this.#onEnd(worker, toError(error)));
    worker.on("exit", (code) => this.#onEnd(worker, new Error(`the thread that exports spans ended: ${code}`)));
    return worker;
  }

  #onEnd(worker: Worker, error: Error): void {
    if (this.#worker === worker) {
      this.#worker = null;
      this.#answer(error);
    }
  }

  #answer(error: Error | null): void {
    const done = this.#done;
    this.#done = null;
    done?.(error);
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
