/**
 * The server side of HTTP/2 (RFC 9113) for a gRPC host: over sockets, with and without TLS, or as a pure state machine
 * over bytes. It passes requests on as they arrive, and sends answers in one write per turn of the event loop.
 *
 * It has no routes, messages or content encodings, no server push, no extended CONNECT, no priorities, and no upgrade
 * from HTTP/1.1.
 */

export { BufferPool } from "./buffer-pool.ts";
export { type CloseReason, type CloseResult, isFlood, type StreamRefusal } from "./close-reason.ts";
export { createCounters, type Http2Counters } from "./counters.ts";
export { ErrorCode } from "./error-code.ts";
export { Http2Server, type Http2ServerOptions } from "./http2-server.ts";
export { DEFAULT_HTTP2_LIMITS, type FloodLimits, type Http2Limits, type RateLimit } from "./limits.ts";
export { QueuedBytes } from "./queued-bytes.ts";
export type { WriteOutcome } from "./sender.ts";
export {
  type BufferedBytes,
  type ConnectionHandler,
  ServerConnection,
  type ServerConnectionOptions,
} from "./server-connection.ts";
export type { ServerStream, StreamHandler } from "./server-stream.ts";
