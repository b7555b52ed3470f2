export { BearerAuthentication } from "./bearer-authentication.ts";
export { BODY_IDLE_MS, BodyBudget, type BodyLimits, checkBodyHeaders, parseJson, readBytes } from "./body.ts";
export { ClientAddresses } from "./client-addresses.ts";
export { readInTurns } from "./connection-turns.ts";
export { HttpCall } from "./http-call.ts";
export { cursor, cursorBody, limit } from "./page-parameters.ts";
export {
  flag,
  integer,
  type JsonSchema,
  optional,
  type Parameter,
  ParameterProblem,
  type Parameters,
  type ParameterValues,
  required,
  uuid,
} from "./parameters.ts";
export { takeOne } from "./rate-limiting.ts";
export {
  forgetHeaders,
  REQUEST_METRICS,
  RequestObserver,
  requestIdOf,
  type ServiceRequest,
  traceIdOf,
  traceOf,
} from "./request-observer.ts";
export { RequestOrder } from "./request-order.ts";
export { TrustedProxies } from "./trusted-proxies.ts";
