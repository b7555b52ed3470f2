/** GET /metrics: what Prometheus collects. It needs no token, and so says nothing of what clients keep here. */

import { type Route, route } from "./route.ts";

export interface Metrics {
  /** The media type of the text. */
  readonly contentType: string;
  /** All metrics as they are now, as text. */
  metrics(): Promise<string>;
}

export function metricsRoute(metrics: Metrics): Route {
  return route({
    method: "GET",
    path: "/metrics",
    operationId: "getMetrics",
    summary: "What Prometheus collects",
    access: "none",
    success: { status: 200, description: "All metrics as they are now", types: ["text/plain"] },
    isSecret: true,
    handle: async () => ({ text: await metrics.metrics(), type: metrics.contentType }),
  });
}
