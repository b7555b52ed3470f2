/** The body of a batch: payloads with a delimiter between them that none of them has. */

import { randomBytes } from "node:crypto";

const newline = Buffer.from("\n");
const randomDelimiterBytes = 24;

/** Payloads as one body, and what separates them. */
export interface BatchBody {
  readonly body: Uint8Array;
  readonly delimiter: Uint8Array;
}

/**
 * Joins payloads, with a newline if they have none, else with random bytes. The delimiter also ends an empty payload at the
 * end, which would be lost without it; any other payload there takes no more than its own bytes.
 */
export function joinPayloads(payloads: readonly Uint8Array[]): BatchBody {
  let delimiter: Uint8Array = newline;
  const isEnded = payloads.at(-1)?.length === 0;
  const delimiters = isEnded ? payloads.length : payloads.length - 1;
  for (;;) {
    const parts = payloads.flatMap((payload, at) => (at < delimiters ? [payload, delimiter] : [payload]));
    const body = Buffer.concat(parts);
    // Counted over the joined bytes: a delimiter might also come about where a payload ends.
    if (occurrences(body, delimiter) === delimiters && !payloads.some((payload) => holds(payload, delimiter))) {
      return { body, delimiter };
    }
    delimiter = randomBytes(randomDelimiterBytes);
  }
}

/** Bytes as a query has them. */
export function percentEncoded(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`).join("");
}

function holds(payload: Uint8Array, delimiter: Uint8Array): boolean {
  return Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).includes(delimiter);
}

function occurrences(body: Buffer, delimiter: Uint8Array): number {
  let count = 0;
  for (let at = body.indexOf(delimiter); at !== -1; at = body.indexOf(delimiter, at + delimiter.length)) count += 1;
  return count;
}
