/** GET /metrics: what Prometheus collects. It needs no token, and so says nothing of what clients keep here. */

import { Router } from "express";
import { methodNotAllowed } from "./method-not-allowed.ts";

export interface Metrics {
  /** The media type of the text. */
  readonly contentType: string;
  /** All metrics as they are now, as text. */
  metrics(): Promise<string>;
}

export function metricsRoutes(metrics: Metrics): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router
    .route("/metrics")
    .get(async (_request, response) => {
      const text = await metrics.metrics();
      response.set("Cache-Control", "no-store");
      response.type(metrics.contentType).send(text);
    })
    .all(methodNotAllowed("GET, HEAD"));
  return router;
}
