/**
 * The limits of one connection, and their defaults. Whatever a client does, its connection uses no more memory than
 * these limits allow. A connection that costs more than any real client needs is closed with ENHANCE_YOUR_CALM.
 */

/** A token bucket: `burst` at once, and then `perSecond`. */
export interface RateLimit {
  readonly burst: number;
  readonly perSecond: number;
}

/** Limits for what a client may do only so often. */
export interface FloodLimits {
  /** RST_STREAM for open streams without an answer: the server has begun to work for each (rapid reset). */
  readonly resets: RateLimit;
  /** Streams that are refused because of a limit. */
  readonly refusedStreams: RateLimit;
  /** Streams that end because of what the client sent: malformed requests, no calls at all, frames on closed streams. */
  readonly streamErrors: RateLimit;
  readonly settings: RateLimit;
  readonly pings: RateLimit;
  /** Empty DATA that does not end its stream. */
  readonly emptyData: RateLimit;
  /** WINDOW_UPDATE of a few bytes, beyond two for each request, and for each DATA frame that the server has sent. */
  readonly smallWindowUpdates: RateLimit;
  /**
   * PRIORITY, unknown frames, unnecessary acknowledgements; frames for ended streams, beyond one for each request, and
   * for each DATA frame that the server has sent.
   */
  readonly ignoredFrames: RateLimit;
}

export type FloodKind = keyof FloodLimits;

export interface Http2Limits {
  /** Streams that are open at the same time (SETTINGS_MAX_CONCURRENT_STREAMS). */
  readonly concurrentStreams: number;
  /** Bytes of the fields of a request or of its trailers, plus 32 for each field (SETTINGS_MAX_HEADER_LIST_SIZE). */
  readonly headerListBytes: number;
  /** Bytes of each dynamic table: of requests (SETTINGS_HEADER_TABLE_SIZE), and of answers. */
  readonly headerTableBytes: number;
  /** CONTINUATION frames of one header block. */
  readonly continuationFrames: number;
  /** Bytes of a stream that are received and not consumed (SETTINGS_INITIAL_WINDOW_SIZE): 65,535 to 2^31 - 1. */
  readonly streamUnreadBytes: number;
  /** The same for all streams of a connection together. */
  readonly unreadBytes: number;
  /** Bytes of a stream that wait for a window or for the socket: above it `write` takes nothing. */
  readonly streamQueuedBytes: number;
  /** The same for all streams of a connection together: above it no further answer is made. */
  readonly queuedBytes: number;
  /** Bytes that wait for the socket: above it no DATA is sent, and nothing more is read from the client. */
  readonly unwrittenBytes: number;
  readonly floods: FloodLimits;
  /** Milliseconds from the start of a connection for TLS, and then again for the client's first SETTINGS. */
  readonly handshakeMs: number;
  /** Milliseconds for a header block in several frames. */
  readonly headersMs: number;
  /** Milliseconds without a stream after which a connection is closed. */
  readonly idleMs: number;
  /** The same for a connection whose client is not known. */
  readonly unknownIdleMs: number;
  /** Milliseconds without a byte from the client after which the server sends PING. */
  readonly keepaliveMs: number;
  /** Milliseconds without a byte from the client after that PING. */
  readonly keepaliveTimeoutMs: number;
  /** Milliseconds in which the socket must write all bytes that it has taken. */
  readonly writeMs: number;
}

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** Maximum queued bytes of answers, of all connections of a server together. */
export const DEFAULT_QUEUED_BYTES_OF_ALL = 256 * MEBIBYTE;

export const DEFAULT_HTTP2_LIMITS: Http2Limits = {
  concurrentStreams: 1_000,
  // gRPC recommends 8 KiB of metadata; a token and tracing take more.
  headerListBytes: 16 * KIBIBYTE,
  headerTableBytes: 4 * KIBIBYTE,
  // Enough for a block of that list in frames of half a KiB.
  continuationFrames: 32,
  // With these windows a client in the same region can use a link of 1 GBit/s fully.
  streamUnreadBytes: 256 * KIBIBYTE,
  unreadBytes: MEBIBYTE,
  streamQueuedBytes: 256 * KIBIBYTE,
  queuedBytes: 4 * MEBIBYTE,
  unwrittenBytes: 256 * KIBIBYTE,
  floods: {
    // Calls with the same deadline are reset at the same time.
    resets: { burst: 2_000, perSecond: 200 },
    // A client may open streams before it has read how many are allowed.
    refusedStreams: { burst: 1_000, perSecond: 100 },
    streamErrors: { burst: 200, perSecond: 20 },
    settings: { burst: 100, perSecond: 10 },
    // Some clients measure the round trip with PINGs while answers arrive.
    pings: { burst: 10_000, perSecond: 5_000 },
    emptyData: { burst: 200, perSecond: 100 },
    smallWindowUpdates: { burst: 1_000, perSecond: 100 },
    ignoredFrames: { burst: 10_000, perSecond: 1_000 },
  },
  handshakeMs: 10 * SECOND_MS,
  headersMs: 10 * SECOND_MS,
  idleMs: 15 * MINUTE_MS,
  unknownIdleMs: MINUTE_MS,
  // A broken connection is detected within 40 s.
  keepaliveMs: 30 * SECOND_MS,
  keepaliveTimeoutMs: 10 * SECOND_MS,
  writeMs: MINUTE_MS,
};
