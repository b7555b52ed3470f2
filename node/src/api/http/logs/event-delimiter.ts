/**
 * Splits a batch into its events by a delimiter. Both are bytes and never decoded as text: a delimiter may be any
 * bytes, and a payload that is not UTF-8 stays as it is (S8).
 */

import { BATCH_EVENTS_MAX, copyBytes, Payloads } from "../../../state/index.ts";
import { HttpError, TurnSlices } from "../answers/index.ts";
import { type Parameter, ParameterProblem } from "../requests/index.ts";

const DELIMITER_BYTES_MAX = 64;
const PLUS = "In a query, + means a space: write %2B for a plus";
/** Initial size of the list of offsets, in events; it grows. */
const INITIAL_EVENTS = 1_024;
/** Events between two checks of the clock. */
const EVENTS_PER_CHECK = 512;

/** The delimiter of the events of a batch: any 1 to 64 bytes. */
export const delimiter: Parameter<Buffer> = {
  description: `The delimiter of the events: 1 to ${DELIMITER_BYTES_MAX} bytes, percent-encoded. ${PLUS}`,
  schema: { type: "string", minLength: 1 },
  isRequired: true,
  badCode: "invalid_delimiter",
  read: (bytes) => {
    if (bytes === undefined) {
      throw new ParameterProblem(`is required. ${PLUS}`);
    }
    if (bytes.length < 1 || bytes.length > DELIMITER_BYTES_MAX) {
      throw new ParameterProblem(`must have 1 to ${DELIMITER_BYTES_MAX} bytes, percent-encoded. ${PLUS}`);
    }
    return bytes;
  },
};

/**
 * Resolves to the events of a body, in their order. It splits from the left, without overlaps, in several turns of the
 * event loop. It ignores one delimiter at the end; any other empty part is an empty event. An event may be as large as
 * the body. Rejects with empty_body, or with too_many_events above BATCH_EVENTS_MAX.
 */
export async function splitEvents(body: Uint8Array, separator: Uint8Array): Promise<Payloads> {
  if (body.length === 0) {
    throw new HttpError("empty_body", "the body must contain at least one event");
  }
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  // A search for a number is far cheaper than a search for bytes.
  const wanted = separator.length === 1 ? (separator[0] as number) : separator;
  const slices = new TurnSlices();
  const packed = new Uint8Array(body.length);
  let offsets = new Uint32Array(INITIAL_EVENTS);
  let [count, end, from] = [0, 0, 0];
  do {
    if (count === BATCH_EVENTS_MAX) {
      throw new HttpError("too_many_events", `a batch must have at most ${BATCH_EVENTS_MAX} events`);
    }
    const found = bytes.indexOf(wanted, from);
    const to = found === -1 ? bytes.length : found;
    copyBytes(bytes, from, to, packed, end);
    end += to - from;
    from = to + separator.length;
    count++;
    if (count === offsets.length) {
      const larger = new Uint32Array(offsets.length * 2);
      larger.set(offsets);
      offsets = larger;
    }
    offsets[count] = end;
    if (count % EVENTS_PER_CHECK === 0 && slices.hasEnded) {
      await slices.next();
    }
  } while (from < bytes.length);
  return new Payloads(packed.subarray(0, end), offsets.subarray(0, count + 1));
}
