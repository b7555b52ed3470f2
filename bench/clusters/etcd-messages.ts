/**
 * The messages of etcd's gRPC interface for keys and for the state of a member, as far as the benchmark uses them. Only
 * the fields that it uses are here:
 *
 *   PutRequest      1 key, 2 value                     PutResponse     1 header
 *   RangeRequest    1 key, 2 range_end, 9 count_only   RangeResponse   1 header, 2 kvs, 4 count
 *   TxnRequest      1 compare, 2 success               TxnResponse     1 header, 2 succeeded
 *                                                                      3 responses
 *   Compare         1 result, 2 target, 3 key,         RequestOp       2 request_put
 *                   6 mod_revision
 *   StatusRequest   (none)                             StatusResponse  1 header, 2 version, 4 leader
 *   ResponseHeader  2 member_id, 3 revision,           KeyValue        1 key, 3 mod_revision, 5 value
 *                   4 raft_term
 *
 * A RangeRequest with nothing but a key asks for that one key, linearizably.
 */

import { decodeFields, encodeFields } from "./wire.ts";

/** A member's answer about itself. */
export interface Status {
  readonly version: string;
  readonly memberId: bigint;
  /** The leader as this member knows it; 0 = none. */
  readonly leaderId: bigint;
  readonly term: bigint;
}

/** The header of every answer. */
export interface Header {
  readonly memberId: bigint;
  readonly revision: bigint;
  readonly term: bigint;
}

export interface KeyValue {
  readonly key: string;
  readonly value: Uint8Array;
  readonly modRevision: bigint;
}

/** The content of a range of keys; `first` is null if there is none, or if the request was only for their number. */
export interface Range {
  readonly first: KeyValue | null;
  readonly count: number;
  readonly revision: bigint;
}

/** Values of the enumerations of Compare. */
const COMPARE_EQUAL = 0n;
const COMPARE_MOD_REVISION = 2n;
const TRUE = 1n;

export function encodePutRequest(key: string, value: Uint8Array): Buffer {
  return encodeFields([
    { number: 1, bytes: Buffer.from(key) },
    { number: 2, bytes: value },
  ]);
}

export function encodeRangeRequest(key: string): Buffer {
  return encodeFields([{ number: 1, bytes: Buffer.from(key) }]);
}

/** Requests the number of keys with the prefix. */
export function encodeCountRequest(prefix: string): Buffer {
  return encodeFields([...prefixFields(prefix), { number: 9, varint: TRUE }]);
}

/** Requests a put that takes place if the last change of the key has that revision. */
export function encodeSwapRequest(key: string, modRevision: bigint, value: Uint8Array): Buffer {
  const compare = encodeFields([
    { number: 1, varint: COMPARE_EQUAL },
    { number: 2, varint: COMPARE_MOD_REVISION },
    { number: 3, bytes: Buffer.from(key) },
    { number: 6, varint: modRevision },
  ]);
  return encodeFields([
    { number: 1, bytes: compare },
    { number: 2, bytes: encodePutOperation(key, value) },
  ]);
}

/** Requests a put of each of these keys, in one transaction. */
export function encodePutsRequest(keys: readonly string[], value: Uint8Array): Buffer {
  return encodeFields(keys.map((key) => ({ number: 2, bytes: encodePutOperation(key, value) })));
}

function encodePutOperation(key: string, value: Uint8Array): Buffer {
  return encodeFields([{ number: 2, bytes: encodePutRequest(key, value) }]);
}

/** The fields key and range_end of a request, for all keys with the prefix. The prefix must not end with 0xff. */
export function prefixFields(prefix: string): { readonly number: number; readonly bytes: Uint8Array }[] {
  const start = Buffer.from(prefix);
  const end = Buffer.from(start);
  end[end.length - 1] = (start.at(-1) as number) + 1;
  return [
    { number: 1, bytes: start },
    { number: 2, bytes: end },
  ];
}

/** The header of an answer whose other fields do not matter. Raises WireError, like all decoders here. */
export function decodeHeaderOnly(message: Uint8Array): Header {
  for (const { number, bytes } of decodeFields(message)) {
    if (number === 1 && bytes !== null) {
      return decodeHeader(bytes);
    }
  }
  return decodeHeader(new Uint8Array(0));
}

export function decodeRangeResponse(message: Uint8Array): Range {
  const { revision } = decodeHeaderOnly(message);
  let first: KeyValue | null = null;
  let count = 0n;
  for (const { number, bytes, varint } of decodeFields(message)) {
    if (number === 2 && bytes !== null) {
      first ??= decodeKeyValue(bytes);
    } else if (number === 4 && varint !== null) {
      count = varint;
    }
  }
  return { first, count: Number(count), revision };
}

/** Whether the comparison succeeded, and the revision after that. */
export function decodeSwapResponse(message: Uint8Array): { readonly isDone: boolean; readonly revision: bigint } {
  const { revision } = decodeHeaderOnly(message);
  let isDone = false;
  for (const { number, varint } of decodeFields(message)) {
    if (number === 2 && varint !== null) {
      isDone = varint === TRUE;
    }
  }
  return { isDone, revision };
}

/** The number of results of a transaction, and the revision after it. */
export function decodePutsResponse(message: Uint8Array): { readonly results: number; readonly revision: bigint } {
  const { revision } = decodeHeaderOnly(message);
  let results = 0;
  for (const { number } of decodeFields(message)) {
    results += number === 3 ? 1 : 0;
  }
  return { results, revision };
}

export function encodeStatusRequest(): Buffer {
  return encodeFields([]);
}

export function decodeStatusResponse(message: Uint8Array): Status {
  const { memberId, term } = decodeHeaderOnly(message);
  let version = "";
  let leaderId = 0n;
  for (const { number, bytes, varint } of decodeFields(message)) {
    if (number === 2 && bytes !== null) {
      version = Buffer.from(bytes).toString();
    } else if (number === 4 && varint !== null) {
      leaderId = varint;
    }
  }
  return { version, memberId, leaderId, term };
}

function decodeHeader(message: Uint8Array): Header {
  let memberId = 0n;
  let revision = 0n;
  let term = 0n;
  for (const { number, varint } of decodeFields(message)) {
    if (number === 2 && varint !== null) {
      memberId = varint;
    } else if (number === 3 && varint !== null) {
      revision = varint;
    } else if (number === 4 && varint !== null) {
      term = varint;
    }
  }
  return { memberId, revision, term };
}

/** An empty value is not encoded at all. */
export function decodeKeyValue(message: Uint8Array): KeyValue {
  let key = "";
  let value: Uint8Array = new Uint8Array(0);
  let modRevision = 0n;
  for (const { number, bytes, varint } of decodeFields(message)) {
    if (number === 1 && bytes !== null) {
      key = Buffer.from(bytes).toString();
    } else if (number === 3 && varint !== null) {
      modRevision = varint;
    } else if (number === 5 && bytes !== null) {
      value = bytes;
    }
  }
  return { key, value, modRevision };
}
