/**
 * A trace that is kept, for a member that took part in it: this member then exports its own spans of the entry.
 *
 * Members send it when the call is over, outside the path of a request, and only over connections that speak version 3
 * of the peer protocol. It may be lost; the trace then lacks these spans.
 */

import { BodyReader, BodyWriter, encodeText, LENGTH_BYTES, NUMBER_BYTES } from "./body-codec.ts";
import { FrameError } from "./frame.ts";

/** The part of the receiver: it has led the term of the entry, or it has received the entry from its leader. */
const PARTS = ["lead", "follow"] as const;
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
const STATE_BYTES_MAX = 512;

/** The first version of the peer protocol with this frame. */
export const KEPT_TRACE_PROTOCOL = 3;

export interface KeptTrace {
  readonly part: (typeof PARTS)[number];
  readonly index: number;
  readonly term: number;
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The span of the sender below which the receiver puts its own, as 16 hexadecimal digits. */
  readonly spanId: string;
  /** The header tracestate of the call, at most 512 printable ASCII characters; "" = none. */
  readonly state: string;
}

export function encodeKeptTrace({ part, index, term, traceId, spanId, state }: KeptTrace): Uint8Array {
  const text = encodeText(state);
  const length = 3 * NUMBER_BYTES + 3 * LENGTH_BYTES + TRACE_ID_BYTES + SPAN_ID_BYTES + text.length;
  return new BodyWriter(length)
    .number(PARTS.indexOf(part))
    .number(index)
    .number(term)
    .bytes(Uint8Array.fromHex(traceId))
    .bytes(Uint8Array.fromHex(spanId))
    .bytes(text)
    .finish();
}

/** Raises a FrameError unless the body is a whole trace. */
export function decodeKeptTrace(body: Uint8Array): KeptTrace {
  const read = new BodyReader(body);
  const fields = { part: read.oneOf(PARTS), index: read.number(), term: read.number() };
  const ids = { traceId: id(read.bytes(), TRACE_ID_BYTES), spanId: id(read.bytes(), SPAN_ID_BYTES) };
  const state = read.text();
  read.end();
  if (state.length > STATE_BYTES_MAX || !/^[\x20-\x7e]*$/.test(state)) {
    throw new FrameError("the state of a trace is not possible");
  }
  return { ...fields, ...ids, state };
}

function id(bytes: Uint8Array, length: number): string {
  if (bytes.length !== length || bytes.every((byte) => byte === 0)) {
    throw new FrameError("an id of a trace is not possible");
  }
  return bytes.toHex();
}
