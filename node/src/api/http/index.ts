/**
 * The HTTP interface. Each file of routes in this folder declares its routes (`route.ts`) and exports a function that
 * returns them. `createHttpApplication` serves them, and does everything that routes have in common.
 */

export { accountRoutes } from "./accounts/index.ts";
export { HttpError, splitTarget } from "./answers/index.ts";
export { ConsoleFiles, docsPage, readReference, type ServiceDocument } from "./documents/index.ts";
export { logRoutes } from "./logs/index.ts";
export {
  ClientAddresses,
  forgetHeaders,
  type JsonSchema,
  REQUEST_METRICS,
  RequestObserver,
  requestIdOf,
  type ServiceRequest,
  TrustedProxies,
  traceOf,
} from "./requests/index.ts";
export { route } from "./routing/index.ts";
export {
  type Check,
  CrossOrigin,
  closeHttpServer,
  createHealthApplication,
  createHttpApplication,
  createHttpServer,
  type Health,
  type HealthApplicationOptions,
  type HttpApplicationOptions,
  type HttpTimeouts,
  prepareAnswer,
  problemOfOrigin,
  type ReportBug,
  type ServiceCalls,
} from "./server/index.ts";
export { watchRoutes } from "./watches/index.ts";
