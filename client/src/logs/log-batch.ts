/** The body of a batch: payloads, and between them a delimiter that none of them contains. */

import { randomBytes } from "node:crypto";

const NEWLINE = Buffer.from("\n");
const RANDOM_DELIMITER_BYTES = 24;

/** Payloads as one body, and their delimiter. */
export interface BatchBody {
  readonly body: Uint8Array;
  readonly delimiter: Uint8Array;
}

/**
 * Joins payloads, with a newline if none contains one, else with random bytes. The delimiter also ends an empty last
 * payload, which would otherwise be lost; any other last payload has none.
 */
export function joinPayloads(payloads: readonly Uint8Array[]): BatchBody {
  let delimiter: Uint8Array = NEWLINE;
  const isEnded = payloads.at(-1)?.length === 0;
  const delimiters = isEnded ? payloads.length : payloads.length - 1;
  for (;;) {
    const parts = payloads.flatMap((payload, at) => (at < delimiters ? [payload, delimiter] : [payload]));
    const body = Buffer.concat(parts);
    // Counted in the joined bytes: a delimiter might also appear across the end of a payload.
    if (occurrences(body, delimiter) === delimiters && !payloads.some((payload) => holds(payload, delimiter))) {
      return { body, delimiter };
    }
    delimiter = randomBytes(RANDOM_DELIMITER_BYTES);
  }
}

/** Bytes in the form of a query. */
export function percentEncoded(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`).join("");
}

function holds(payload: Uint8Array, delimiter: Uint8Array): boolean {
  return Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).indexOf(delimiter) !== -1;
}

function occurrences(body: Buffer, delimiter: Uint8Array): number {
  let count = 0;
  for (let at = body.indexOf(delimiter); at !== -1; at = body.indexOf(delimiter, at + delimiter.length)) {
    count += 1;
  }
  return count;
}
