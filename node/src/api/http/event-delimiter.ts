/**
 * The delimiter of a batch, and the events that it separates. Both are bytes: nothing here is decoded as text, so a
 * delimiter may be any bytes, and a payload that is no UTF-8 is left as it is (S8).
 */

import { BATCH_EVENTS_MAX } from "../../state/index.ts";
import { HttpError } from "./http-error.ts";

/** Bytes of one event. */
export const EVENT_BYTES_MAX = 1024 * 1024;

const PARAMETER = "delimiter";
const DELIMITER_BYTES_MAX = 64;
const PERCENT = 0x25;
const PLUS = 0x2b;
const SPACE = 0x20;
const ESCAPE = /^[0-9A-Fa-f]{2}$/;

/**
 * The delimiter in the query of a URL, the part behind its `?`, as it was sent: 1 to 64 bytes, percent-decoded to bytes; a
 * plus is a space, as in every form. Raises invalid_delimiter for any other, for none, and for two of them.
 */
export function delimiterOf(query: string): Buffer {
  const values: Buffer[] = [];
  for (const parameter of query.split("&")) {
    const end = parameter.includes("=") ? parameter.indexOf("=") : parameter.length;
    if (percentDecoded(parameter.slice(0, end))?.toString("latin1") === PARAMETER) {
      const value = percentDecoded(parameter.slice(end + 1));
      if (value === null) {
        throw invalidDelimiter("is not percent-encoded as it must be");
      }
      values.push(value);
    }
  }
  const [delimiter, ...others] = values;
  if (delimiter === undefined || others.length > 0) {
    throw invalidDelimiter("must be given, once");
  }
  if (delimiter.length < 1 || delimiter.length > DELIMITER_BYTES_MAX) {
    throw invalidDelimiter(`must have 1 to ${DELIMITER_BYTES_MAX} bytes`);
  }
  return delimiter;
}

/**
 * The events of a body, in their order, as views of it: split from the left, without overlaps. One delimiter at the very
 * end is ignored; whatever else is empty is an empty event. Raises empty_body, too_many_events above 10,000, and
 * payload_too_large for an event above 1 MiB.
 */
export function splitEvents(body: Uint8Array, delimiter: Uint8Array): Uint8Array[] {
  if (body.length === 0) {
    throw new HttpError("empty_body", "the body must hold at least one event");
  }
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const events: Uint8Array[] = [];
  let from = 0;
  do {
    if (events.length === BATCH_EVENTS_MAX) {
      throw new HttpError("too_many_events", `a batch must have at most ${BATCH_EVENTS_MAX} events`);
    }
    const found = bytes.indexOf(delimiter, from);
    const to = found === -1 ? bytes.length : found;
    events.push(bytes.subarray(from, to));
    from = to + delimiter.length;
  } while (from < bytes.length);
  if (events.some(({ length }) => length > EVENT_BYTES_MAX)) {
    throw new HttpError("payload_too_large", `each event must have at most ${EVENT_BYTES_MAX} bytes`);
  }
  return events;
}

/** The bytes of a part of a query; null for an escape that is none, or a character that no URL has. */
function percentDecoded(text: string): Buffer | null {
  const encoded = Buffer.from(text, "utf8");
  const bytes = Buffer.alloc(encoded.length);
  let length = 0;
  for (let at = 0; at < encoded.length; at++) {
    let byte = encoded[at] as number;
    if (byte > 0x7e || byte < 0x21) {
      return null;
    }
    if (byte === PERCENT) {
      const digits = encoded.toString("latin1", at + 1, at + 3);
      if (!ESCAPE.test(digits)) {
        return null;
      }
      byte = Number.parseInt(digits, 16);
      at += 2;
    } else if (byte === PLUS) {
      byte = SPACE;
    }
    bytes[length++] = byte;
  }
  return bytes.subarray(0, length);
}

function invalidDelimiter(rule: string): HttpError {
  return new HttpError("invalid_delimiter", `the query parameter ${PARAMETER} ${rule}`);
}
