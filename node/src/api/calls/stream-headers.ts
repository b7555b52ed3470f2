/**
 * Headers of every answer without an end: proxies must pass each message on at once. nginx obeys the second header; other
 * proxies keep a body in order to compress it, which `no-transform` forbids (RFC 9111, section 5.2.2.6).
 */
export const STREAM_HEADERS = { "Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no" } as const;
