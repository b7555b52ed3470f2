/**
 * GET /metrics: the metrics for Prometheus. The route needs no token, so it reveals nothing about clients' data, and
 * many requests cost little: all within a tenth of a second get the same text, which is compressed once.
 */

import type { Clock } from "../../../replica/index.ts";
import { compressedFile, type StoredFile } from "../answers/index.ts";
import { type Route, route } from "../routing/index.ts";

export interface Metrics {
  /** The media type of the text. */
  readonly contentType: string;
  /** Resolves to the present values of all metrics, as text. */
  metrics(): Promise<string>;
}

/** How long a text counts as the present one, in milliseconds. */
const FRESH_MS = 100;

export function metricsRoute(metrics: Metrics, clock: Pick<Clock, "monotonicMs">): Route {
  const document = new MetricsDocument(metrics, clock);
  return route({
    method: "GET",
    path: "/metrics",
    operationId: "getMetrics",
    summary: "The metrics for Prometheus",
    access: "none",
    success: { status: 200, description: "The present values of all metrics", types: ["text/plain"] },
    isSecret: true,
    handle: async () => ({ file: await document.present(), headers: { "Cache-Control": "no-store" } }),
  });
}

class MetricsDocument {
  readonly #metrics: Metrics;
  readonly #clock: Pick<Clock, "monotonicMs">;
  #present: Promise<StoredFile> | null = null;
  /** When the present one was complete. */
  #madeMs = Number.POSITIVE_INFINITY;

  constructor(metrics: Metrics, clock: Pick<Clock, "monotonicMs">) {
    this.#metrics = metrics;
    this.#clock = clock;
  }

  present(): Promise<StoredFile> {
    if (this.#present === null || this.#clock.monotonicMs() - this.#madeMs >= FRESH_MS) {
      this.#madeMs = Number.POSITIVE_INFINITY;
      this.#present = this.#make();
    }
    return this.#present;
  }

  async #make(): Promise<StoredFile> {
    try {
      const text = await this.#metrics.metrics();
      const file = await compressedFile(this.#metrics.contentType, text);
      this.#madeMs = this.#clock.monotonicMs();
      return file;
    } catch (error) {
      this.#present = null;
      throw error;
    }
  }
}
