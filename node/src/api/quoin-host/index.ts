/**
 * gRPC served by Quoin itself, on its own HTTP/2: unary calls, answers that are streams, and, for the services of libraries,
 * requests that are streams as well. Requests may be compressed with gzip, answers never are.
 */

export { HTTP2_METRICS, type Http2Statistics } from "./http2-metrics.ts";
export { type ConnectionLog, QuoinHost, type QuoinHostOptions } from "./quoin-host.ts";
