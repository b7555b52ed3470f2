/**
 * The server's side of HTTP/2 (RFC 9113), made for a host of gRPC: over sockets, with and without TLS, or over nothing but
 * bytes. Requests are handed on as they arrive, and answers go in one write per turn of the event loop.
 *
 * It knows no routes, no messages and no content encodings. It has no server push, no extended CONNECT, no priorities, and
 * no HTTP/1.1 to upgrade from.
 */

export { BufferPool } from "./buffer-pool.ts";
export type { CloseReason, Closure, StreamRefusal } from "./closure.ts";
export { createCounters, type Http2Counters } from "./counters.ts";
export { ErrorCode } from "./error-code.ts";
export type { ConnectionHandler, StreamHandler } from "./handlers.ts";
export { Http2Server, type Http2ServerOptions } from "./http2-server.ts";
export { DEFAULT_HTTP2_LIMITS, type FloodLimits, type Http2Limits, type RateLimit } from "./limits.ts";
export { QueuedBytes } from "./queued-bytes.ts";
export type { WriteOutcome } from "./sender.ts";
export { type HeldBytes, ServerConnection, type ServerConnectionOptions } from "./server-connection.ts";
export type { ServerStream } from "./server-stream.ts";
