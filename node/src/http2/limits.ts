/**
 * What one connection may use, with the defaults. Whatever a client does, a connection holds no more than these say, and
 * one that costs more than it can mean to is closed with ENHANCE_YOUR_CALM.
 */

/** A bucket of tokens: so many at once, and so many per second after that. */
export interface RateLimit {
  readonly burst: number;
  readonly perSecond: number;
}

/** What a client may do only so often. */
export interface FloodLimits {
  /** RST_STREAM for streams that are open: the server has begun to work for each (rapid reset). */
  readonly resets: RateLimit;
  /** Streams that are opened above a limit, and refused. */
  readonly refusedStreams: RateLimit;
  /** Streams that the server resets because of what the client sent: malformed requests, frames on closed streams. */
  readonly streamErrors: RateLimit;
  readonly settings: RateLimit;
  readonly pings: RateLimit;
  /** DATA without a byte that does not end its stream. */
  readonly emptyData: RateLimit;
  /** WINDOW_UPDATE of a few bytes, above two for each frame of DATA that the server has sent. */
  readonly smallWindowUpdates: RateLimit;
  /** PRIORITY, unknown frames, acknowledgements of nothing, RST_STREAM for streams that have ended. */
  readonly ignoredFrames: RateLimit;
}

export type FloodKind = keyof FloodLimits;

export interface Http2Limits {
  /** Streams that are open at the same time (SETTINGS_MAX_CONCURRENT_STREAMS). */
  readonly concurrentStreams: number;
  /** Bytes of the fields of a request or of its trailers, with 32 for each field (SETTINGS_MAX_HEADER_LIST_SIZE). */
  readonly headerListBytes: number;
  /** Bytes of the dynamic tables: that of requests (SETTINGS_HEADER_TABLE_SIZE), and that of answers. */
  readonly headerTableBytes: number;
  /** CONTINUATION frames of one header block. */
  readonly continuationFrames: number;
  /** Bytes of a stream that the consumer has not taken (SETTINGS_INITIAL_WINDOW_SIZE): 65,535 to 2^31 - 1. */
  readonly streamUnreadBytes: number;
  /** The same of all streams of a connection together. */
  readonly unreadBytes: number;
  /** Bytes of a stream that wait for a window or for the socket: `write` takes nothing above it. */
  readonly streamQueuedBytes: number;
  /** The same of all streams of a connection together: above it new streams are refused as well. */
  readonly queuedBytes: number;
  /** Bytes that wait for the socket: above it no DATA goes there, and nothing more is read from the client. */
  readonly unwrittenBytes: number;
  readonly floods: FloodLimits;
  /** Milliseconds from the start of a connection, for TLS and then again for the client's first SETTINGS. */
  readonly handshakeMs: number;
  /** Milliseconds without a stream after which a connection is closed. */
  readonly idleMs: number;
  /** Milliseconds without a byte from the client after which the server sends PING. */
  readonly keepaliveMs: number;
  /** Milliseconds without a byte from the client after that PING. */
  readonly keepaliveTimeoutMs: number;
  /** Milliseconds in which the socket writes all that it has taken. */
  readonly writeMs: number;
}

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** Bytes of answers that wait, of all connections of a server together. */
export const DEFAULT_QUEUED_BYTES_OF_ALL = 256 * MEBIBYTE;

export const DEFAULT_HTTP2_LIMITS: Http2Limits = {
  concurrentStreams: 1_000,
  // gRPC suggests 8 KiB of metadata; a token and tracing take some more.
  headerListBytes: 16 * KIBIBYTE,
  headerTableBytes: 4 * KIBIBYTE,
  // A block of that list in frames of half a KiB.
  continuationFrames: 32,
  // A client in the same region fills a link of 1 GBit/s with such windows.
  streamUnreadBytes: 256 * KIBIBYTE,
  unreadBytes: MEBIBYTE,
  streamQueuedBytes: 256 * KIBIBYTE,
  queuedBytes: 4 * MEBIBYTE,
  unwrittenBytes: 256 * KIBIBYTE,
  floods: {
    // Calls whose deadlines pass at the same time are reset at the same time.
    resets: { burst: 2_000, perSecond: 200 },
    // A client may open streams before it has read how many are allowed.
    refusedStreams: { burst: 1_000, perSecond: 100 },
    streamErrors: { burst: 200, perSecond: 20 },
    settings: { burst: 100, perSecond: 10 },
    // Some clients measure the way to the server with a PING for each round trip while answers arrive.
    pings: { burst: 10_000, perSecond: 5_000 },
    emptyData: { burst: 200, perSecond: 100 },
    smallWindowUpdates: { burst: 1_000, perSecond: 100 },
    // Clients that cancel calls which have just ended send such frames.
    ignoredFrames: { burst: 10_000, perSecond: 1_000 },
  },
  handshakeMs: 10 * SECOND_MS,
  idleMs: 15 * MINUTE_MS,
  // A connection that broke without a word is noticed within 40 s.
  keepaliveMs: 30 * SECOND_MS,
  keepaliveTimeoutMs: 10 * SECOND_MS,
  writeMs: MINUTE_MS,
};
