/**
 * The delimiter of a batch, and the events that it separates. Both are bytes: nothing here is decoded as text, so a
 * delimiter may be any bytes, and a payload that is no UTF-8 is left as it is (S8).
 */

import { BATCH_EVENTS_MAX } from "../../state/index.ts";
import { EVENT_BYTES_MAX } from "../methods/index.ts";
import { HttpError } from "./http-error.ts";
import { type Parameter, ParameterProblem } from "./parameters.ts";

const DELIMITER_BYTES_MAX = 64;

/** What separates the events of a batch: 1 to 64 bytes, whatever they are. */
export const delimiter: Parameter<Buffer> = {
  description: "What separates the events, 1 to 64 bytes, percent-encoded; a plus is a space",
  schema: { type: "string", minLength: 1 },
  isRequired: true,
  badCode: "invalid_delimiter",
  read: (bytes) => {
    if (bytes === undefined) {
      throw new ParameterProblem("is required");
    }
    if (bytes.length < 1 || bytes.length > DELIMITER_BYTES_MAX) {
      throw new ParameterProblem(`must have 1 to ${DELIMITER_BYTES_MAX} bytes`);
    }
    return bytes;
  },
};

/**
 * The events of a body, in their order, as views of it: split from the left, without overlaps. One delimiter at the very
 * end is ignored; whatever else is empty is an empty event. Raises empty_body, too_many_events above 10,000, and
 * payload_too_large for an event above 1 MiB.
 */
export function splitEvents(body: Uint8Array, separator: Uint8Array): Uint8Array[] {
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
    const found = bytes.indexOf(separator, from);
    const to = found === -1 ? bytes.length : found;
    events.push(bytes.subarray(from, to));
    from = to + separator.length;
  } while (from < bytes.length);
  if (events.some(({ length }) => length > EVENT_BYTES_MAX)) {
    throw new HttpError("payload_too_large", `each event must have at most ${EVENT_BYTES_MAX} bytes`);
  }
  return events;
}
