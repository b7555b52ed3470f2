/** The limits of a gRPC connection that other protocols share, or that the manual names. */

/** Maximum bytes of a request message, without the prefix of five bytes that gRPC adds. */
export const REQUEST_BYTES_MAX = 4 * 1024 * 1024;
/** Fields of a request, with those of the messages in it; about as many as names and values in JSON. */
export const REQUEST_FIELDS_MAX = 20_000;
/**
 * Enough for all watches that a member serves (the quota of the contract) and for other calls. A client that opens more
 * streams on one connection must get a refusal instead of waiting.
 */
export const CONCURRENT_STREAMS_MAX = 12_000;
/** A broken connection is detected within 40 s, the sum of the two. */
export const KEEPALIVE_TIME_MS = 30_000;
export const KEEPALIVE_TIMEOUT_MS = 10_000;
