export {
  createHealthApplication,
  createHttpApplication,
  type HealthApplicationOptions,
  type HttpApplicationOptions,
  type ReportBug,
} from "./application.ts";
export type { Check, Health } from "./health.ts";
export { REQUEST_METRICS, RequestObserver } from "./request-observer.ts";
export { closeHttpServer, createHttpServer, type HttpTimeouts } from "./server.ts";
