/**
 * Forwarding: a follower sends attempts to log commands to the leader, and receives their results.
 *
 * A follower sends an attempt once, and the attempt can only become an entry of the term that the frame names.
 * `forwarded` reports that the leader appended it, and where. `refused` reports that it was not appended and never will
 * be. A body of any other form raises a FrameError.
 */

import { BodyReader, BodyWriter, encodeText, LENGTH_BYTES, NUMBER_BYTES } from "./body-codec.ts";
import { FrameError } from "./frame.ts";

export interface ForwardedAttempt {
  /** The number of the attempt in the forwarding process, never used twice. */
  readonly seq: number;
  /** The kind of the row, as a number that the user of the transport defines. */
  readonly kind: number;
  readonly row: Uint8Array;
}

/** Attempts for the log. Each becomes an entry of exactly this term, or none. */
export interface Forward {
  readonly term: number;
  readonly attempts: readonly ForwardedAttempt[];
}

/** Attempts that the leader has appended, with the index of each. */
export interface Forwarded {
  readonly term: number;
  readonly appended: readonly { readonly seq: number; readonly index: number }[];
}

/** Attempts that were not appended and never will be. */
export interface ForwardRefused {
  readonly seqs: readonly number[];
  readonly reason: string;
  /** The leader that the refusing member knows; 0 if it knows none. */
  readonly leader: number;
  readonly term: number;
}

export function encodeForward(forward: Forward): Uint8Array {
  let length = NUMBER_BYTES + LENGTH_BYTES;
  for (const { row } of forward.attempts) {
    length += 2 * NUMBER_BYTES + LENGTH_BYTES + row.length;
  }
  const writer = new BodyWriter(length).number(forward.term).length(forward.attempts.length);
  for (const { seq, kind, row } of forward.attempts) {
    writer.number(seq).number(kind).bytes(row);
  }
  return writer.finish();
}

/** Raises a FrameError unless the body is a whole Forward of at least one attempt. */
export function decodeForward(body: Uint8Array): Forward {
  const read = new BodyReader(body);
  const term = read.number();
  const attempts = read.list(() => ({ seq: read.number(), kind: read.number(), row: read.bytes() }));
  read.end();
  checkNotEmpty(attempts);
  return { term, attempts };
}

export function encodeForwarded(forwarded: Forwarded): Uint8Array {
  const length = NUMBER_BYTES + LENGTH_BYTES + forwarded.appended.length * 2 * NUMBER_BYTES;
  const writer = new BodyWriter(length).number(forwarded.term).length(forwarded.appended.length);
  for (const { seq, index } of forwarded.appended) {
    writer.number(seq).number(index);
  }
  return writer.finish();
}

/** Raises a FrameError unless the body is a whole Forwarded of at least one attempt. */
export function decodeForwarded(body: Uint8Array): Forwarded {
  const read = new BodyReader(body);
  const term = read.number();
  const appended = read.list(() => ({ seq: read.number(), index: read.number() }));
  read.end();
  checkNotEmpty(appended);
  return { term, appended };
}

export function encodeForwardRefused(refused: ForwardRefused): Uint8Array {
  const reason = encodeText(refused.reason);
  const length = LENGTH_BYTES + refused.seqs.length * NUMBER_BYTES + LENGTH_BYTES + reason.length + 2 * NUMBER_BYTES;
  const writer = new BodyWriter(length).length(refused.seqs.length);
  for (const seq of refused.seqs) {
    writer.number(seq);
  }
  return writer.bytes(reason).number(refused.leader).number(refused.term).finish();
}

/** Raises a FrameError unless the body is a whole refusal of at least one attempt. */
export function decodeForwardRefused(body: Uint8Array): ForwardRefused {
  const read = new BodyReader(body);
  const seqs = read.list(() => read.number());
  const reason = read.text();
  const leader = read.number();
  const term = read.number();
  read.end();
  checkNotEmpty(seqs);
  return { seqs, reason, leader, term };
}

function checkNotEmpty(list: readonly unknown[]): void {
  if (list.length === 0) {
    throw new FrameError("a frame of attempts contains no attempt");
  }
}
