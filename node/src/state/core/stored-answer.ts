/** The row of a stored answer. */

import type { CoordinationError } from "./coordination-error.ts";
import type { AnswerForms } from "./outcome.ts";
import { HASH_BYTES } from "./principal.ts";
import { RecordReader, RecordWriter } from "./record.ts";
import type { StoredResult } from "./results.ts";

/** The tick of a row without a window: an acquisition that is queued or held. */
export const LIVE = Number.MAX_SAFE_INTEGER;

export interface StoredAnswer {
  readonly payloadHash: Uint8Array;
  /** Cluster tick at which its window began, or LIVE. */
  readonly tickMs: number;
  /** The answer was too large to keep its values. */
  readonly stripped: boolean;
  readonly answer: Uint8Array;
}

export function encodeStoredAnswer(stored: StoredAnswer): Uint8Array {
  return new RecordWriter()
    .fixed(stored.payloadHash, HASH_BYTES)
    .uint53(stored.tickMs)
    .boolean(stored.stripped)
    .bytes(stored.answer)
    .finish();
}

/**
 * The same as `encodeStoredAnswer` for an answer that is not encoded yet. Omits its values if the answer is longer than
 * `bytesMax`.
 */
export function encodeFreshAnswer(
  answers: AnswerForms,
  payloadHash: Uint8Array,
  tickMs: number,
  answer: StoredResult | CoordinationError,
  bytesMax: number,
): Uint8Array {
  const writer = new RecordWriter().fixed(payloadHash, HASH_BYTES).uint53(tickMs).boolean(false);
  const begin = writer.beginBytes();
  answers.write(writer, answer);
  const length = writer.endBytes(begin);
  const whole = writer.finish();
  const bare = length > bytesMax ? answers.withoutValues(answer) : answer;
  // A refusal has no values, so a long one is stored unchanged.
  return bare === answer
    ? whole
    : encodeStoredAnswer({ payloadHash, tickMs, stripped: true, answer: answers.encode(bare) });
}

export function decodeStoredAnswer(bytes: Uint8Array): StoredAnswer {
  const reader = new RecordReader(bytes);
  const stored = {
    payloadHash: reader.fixed(HASH_BYTES),
    tickMs: reader.uint53(),
    stripped: reader.boolean(),
    answer: reader.bytes(),
  };
  reader.end();
  return stored;
}
