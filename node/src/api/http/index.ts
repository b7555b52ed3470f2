/**
 * The HTTP interface. Each file of routes in this folder declares its routes (`route.ts`) and exports a function that
 * returns them. `createHttpApplication` serves them, and does everything that routes have in common.
 */

export { accountRoutes } from "./account-routes.ts";
export {
  createHealthApplication,
  createHttpApplication,
  type HealthApplicationOptions,
  type HttpApplicationOptions,
  prepareAnswer,
  type ReportBug,
  type ServiceCalls,
} from "./application.ts";
export { ClientAddresses } from "./client-addresses.ts";
export { ConsoleFiles } from "./console-files.ts";
export { CrossOrigin, problemOfOrigin } from "./cross-origin.ts";
export { docsPage } from "./docs-page.ts";
export type { Check, Health } from "./health.ts";
export { HttpError } from "./http-error.ts";
export { logRoutes } from "./log-routes.ts";
export type { ServiceDocument } from "./openapi-document.ts";
export type { JsonSchema } from "./parameters.ts";
export { readReference } from "./reference.ts";
export {
  forgetHeaders,
  REQUEST_METRICS,
  RequestObserver,
  requestIdOf,
  type ServiceRequest,
  traceOf,
} from "./request-observer.ts";
export { route } from "./route.ts";
export { closeHttpServer, createHttpServer, type HttpTimeouts } from "./server.ts";
export { TrustedProxies } from "./trusted-proxies.ts";
export { splitTarget } from "./url-encoding.ts";
export { watchRoutes } from "./watch-routes.ts";
