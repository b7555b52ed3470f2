/**
 * The few messages of etcd's gRPC interface that the benchmark sends and reads, and of those only the fields it uses:
 *
 *   PutRequest      1 key, 2 value            PutResponse     1 header
 *   RangeRequest    1 key                     RangeResponse   1 header, 2 kvs
 *   StatusRequest   (none)                    StatusResponse  1 header, 2 version, 4 leader
 *   ResponseHeader  2 member_id, 3 revision   KeyValue        5 value
 *
 * A RangeRequest with nothing but a key asks for that one key, linearizably.
 */

import { decodeFields, encodeFields } from "./wire.ts";

/** What a member answers about itself. */
export interface Status {
  readonly version: string;
  readonly memberId: bigint;
  /** The member that leads as far as this one knows; 0 = none. */
  readonly leaderId: bigint;
}

/** What a range of one key holds; `value` is null if there is no such key. */
export interface Range {
  readonly value: Uint8Array | null;
  readonly revision: bigint;
}

export function encodePutRequest(key: string, value: Uint8Array): Buffer {
  return encodeFields([
    { number: 1, bytes: Buffer.from(key) },
    { number: 2, bytes: value },
  ]);
}

/** The revision of the store after the put. Raises WireError. */
export function decodePutResponse(message: Uint8Array): bigint {
  let revision = 0n;
  for (const { number, bytes } of decodeFields(message)) {
    if (number === 1 && bytes !== null) {
      revision = decodeHeader(bytes).revision;
    }
  }
  return revision;
}

export function encodeRangeRequest(key: string): Buffer {
  return encodeFields([{ number: 1, bytes: Buffer.from(key) }]);
}

/** Raises WireError. */
export function decodeRangeResponse(message: Uint8Array): Range {
  let revision = 0n;
  let value: Uint8Array | null = null;
  for (const { number, bytes } of decodeFields(message)) {
    if (number === 1 && bytes !== null) {
      revision = decodeHeader(bytes).revision;
    } else if (number === 2 && bytes !== null) {
      value = decodeValue(bytes);
    }
  }
  return { value, revision };
}

export function encodeStatusRequest(): Buffer {
  return encodeFields([]);
}

/** Raises WireError. */
export function decodeStatusResponse(message: Uint8Array): Status {
  let version = "";
  let memberId = 0n;
  let leaderId = 0n;
  for (const { number, bytes, varint } of decodeFields(message)) {
    if (number === 1 && bytes !== null) {
      memberId = decodeHeader(bytes).memberId;
    } else if (number === 2 && bytes !== null) {
      version = Buffer.from(bytes).toString();
    } else if (number === 4 && varint !== null) {
      leaderId = varint;
    }
  }
  return { version, memberId, leaderId };
}

function decodeHeader(message: Uint8Array): { readonly memberId: bigint; readonly revision: bigint } {
  let memberId = 0n;
  let revision = 0n;
  for (const { number, varint } of decodeFields(message)) {
    if (number === 2 && varint !== null) {
      memberId = varint;
    } else if (number === 3 && varint !== null) {
      revision = varint;
    }
  }
  return { memberId, revision };
}

/** A value of no bytes is not written at all. */
function decodeValue(message: Uint8Array): Uint8Array {
  let value: Uint8Array = new Uint8Array(0);
  for (const { number, bytes } of decodeFields(message)) {
    if (number === 5 && bytes !== null) {
      value = bytes;
    }
  }
  return value;
}
