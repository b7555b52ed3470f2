/**
 * The identity of a span as W3C Trace Context (https://www.w3.org/TR/trace-context/) carries it between processes: the
 * headers `traceparent` and `tracestate`.
 *
 * A header that does not follow the standard counts as absent; it is never an error.
 */

import { randomBytes } from "node:crypto";

export interface TraceContext {
  /** 32 lower-case hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits, not all zero. */
  readonly spanId: string;
  readonly isSampled: boolean;
  /** The header `tracestate` as it came; "" = none. */
  readonly state: string;
}

/** Bytes of the ids. */
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
/** A longer `tracestate` is not carried on. The standard requires at least this many characters. */
const STATE_LENGTH_MAX = 512;

/** Version, trace id, span id, flags; versions above 00 may add fields. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;
const VERSION_LENGTH = 2;
const TRACE_ID_AT = 3;
const SPAN_ID_AT = 36;
const FLAGS_AT = 53;
const LENGTH = 55;
const SAMPLED = 0x01;
const PRINTABLE = /^[\x20-\x7e]*$/;

/**
 * Returns the context of the headers, or null if there is no valid one. A repeated `traceparent` is not valid; several
 * `tracestate` are parts of one list.
 */
export function traceContextOf(
  traceparents: readonly string[],
  tracestates: () => readonly string[] = () => [],
): TraceContext | null {
  const [traceparent] = traceparents;
  if (traceparent === undefined || traceparents.length > 1 || !TRACEPARENT.test(traceparent)) {
    return null;
  }
  if (traceparent.slice(0, VERSION_LENGTH) === "00" && traceparent.length > LENGTH) {
    return null;
  }
  const state = tracestates().join(",");
  return {
    traceId: traceparent.slice(TRACE_ID_AT, TRACE_ID_AT + 2 * TRACE_ID_BYTES),
    spanId: traceparent.slice(SPAN_ID_AT, SPAN_ID_AT + 2 * SPAN_ID_BYTES),
    isSampled: (Number.parseInt(traceparent.slice(FLAGS_AT, LENGTH), 16) & SAMPLED) !== 0,
    state: state.length <= STATE_LENGTH_MAX && PRINTABLE.test(state) ? state : "",
  };
}

/** A new random trace id. */
export function newTraceId(): string {
  return randomBytes(TRACE_ID_BYTES).toHex();
}

/** A new random span id. */
export function newSpanId(): string {
  return randomBytes(SPAN_ID_BYTES).toHex();
}
