/** The limits of one connection of a gRPC client. */
import { DEFAULT_HTTP2_LIMITS, type Http2Limits } from "../../http2/index.ts";
import { CONCURRENT_STREAMS_MAX, KEEPALIVE_TIME_MS, KEEPALIVE_TIMEOUT_MS } from "../calls/index.ts";

const KIBIBYTE = 1_024;
const MEBIBYTE = 1_024 * KIBIBYTE;
const { floods } = DEFAULT_HTTP2_LIMITS;

export const HOST_LIMITS: Http2Limits = {
  ...DEFAULT_HTTP2_LIMITS,
  concurrentStreams: CONCURRENT_STREAMS_MAX,
  // A token names namespaces and may be long. The decoded header has as many bytes, and is freed with its call.
  headerListBytes: 64 * KIBIBYTE,
  continuationFrames: 128,
  // Several answers of 1 MiB at the same time.
  queuedBytes: 16 * MEBIBYTE,
  // A client may cancel all of its streams at once. So many calls take a member about half a second, so not more at
  // once.
  floods: { ...floods, resets: { burst: CONCURRENT_STREAMS_MAX, perSecond: floods.resets.perSecond } },
  keepaliveMs: KEEPALIVE_TIME_MS,
  keepaliveTimeoutMs: KEEPALIVE_TIMEOUT_MS,
  // A client may stay connected without a call for any time, once it has made one with a good token.
  idleMs: Number.POSITIVE_INFINITY,
};
