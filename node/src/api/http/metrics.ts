/** GET /metrics: the metrics for Prometheus. The route needs no token, so it reveals nothing about clients' data. */

import { type Route, route } from "./route.ts";

export interface Metrics {
  /** The media type of the text. */
  readonly contentType: string;
  /** Resolves to the present values of all metrics, as text. */
  metrics(): Promise<string>;
}

export function metricsRoute(metrics: Metrics): Route {
  return route({
    method: "GET",
    path: "/metrics",
    operationId: "getMetrics",
    summary: "The metrics for Prometheus",
    access: "none",
    success: { status: 200, description: "The present values of all metrics", types: ["text/plain"] },
    isSecret: true,
    handle: async () => ({ text: await metrics.metrics(), type: metrics.contentType }),
  });
}
