export {
  createHealthApplication,
  createHttpApplication,
  type HealthApplicationOptions,
  type HttpApplicationOptions,
  prepareAnswer,
  type ReportBug,
  type ServiceCalls,
} from "./application.ts";
export { CrossOrigin, problemOfOrigin } from "./cross-origin.ts";
export type { Check, Health } from "./health.ts";
export { closeHttpServer, createHttpServer, DEFAULT_HTTP_TIMEOUTS, type HttpTimeouts } from "./server.ts";
