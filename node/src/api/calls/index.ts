/**
 * gRPC calls, independent of the host that serves them: the checks of their headers, the limits of clients, their
 * metrics, and the way from requests to methods and from answers to statuses. This folder does not depend on HTTP/2.
 */

export type { AnsweredCall, CallHandler } from "./answered-call.ts";
export {
  CALL_ADMISSION_METRICS,
  CallAdmission,
  type CallStatistics,
} from "./call-admission.ts";
export type { CallMethod } from "./call-method.ts";
export { CALL_METRICS, CallObserver, type CallProtocol, MethodCalls } from "./call-observer.ts";
export type { CallerAccess } from "./caller-access.ts";
export type { PortContext } from "./checked-call.ts";
export { ClientConnection } from "./client-connection.ts";
export { allowedMs, malformedTimeout } from "./deadline.ts";
export type { ErrorLog } from "./error-log.ts";
export {
  CONCURRENT_STREAMS_MAX,
  KEEPALIVE_TIME_MS,
  KEEPALIVE_TIMEOUT_MS,
  REQUEST_BYTES_MAX,
} from "./grpc-limits.ts";
export { type StatusCode, status } from "./grpc-status.ts";
export { type CallPort, IncomingCall } from "./incoming-call.ts";
export { type Inflation, requestInflater } from "./inflater.ts";
export { reportBug, UNKNOWN_ERROR } from "./report-bug.ts";
export { notServed, type ServedMethod, type ServiceHandlers, serve } from "./served-method.ts";
export { type CallStatus, errorStatus, plainStatus, replayedField } from "./status.ts";
export { STREAM_HEADERS } from "./stream-headers.ts";
