/**
 * gRPC on Quoin's own HTTP/2: unary calls, streams of answers, and streams of requests, which only the services of
 * libraries use. Requests may be compressed with gzip; answers never are.
 */

export { HTTP2_METRICS, type Http2Statistics } from "./http2-metrics.ts";
export type { LibraryMethod, LibraryService } from "./lazy-service.ts";
export { type ConnectionLog, type HostedMethod, QuoinHost, type QuoinHostOptions } from "./quoin-host.ts";
