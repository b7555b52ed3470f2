/**
 * The part of the protocol buffer encoding that the messages beside this file need: varints and length-delimited
 * fields. A reader skips unknown fields, as every reader must.
 */

const WIRE_VARINT = 0;
const WIRE_FIXED64 = 1;
const WIRE_LENGTH_DELIMITED = 2;
const WIRE_FIXED32 = 5;
const WIRE_TYPE_BITS = 3;
const PAYLOAD_BITS = 7;
const PAYLOAD_MASK = 0x7f;
const CONTINUED = 0x80;
/** A longer varint would not fit into 64 bits. */
const VARINT_BYTES_MAX = 10;

/** A field of a message: the number of a varint field, the bytes of a length-delimited one, otherwise null. */
export interface Field {
  readonly number: number;
  readonly varint: bigint | null;
  readonly bytes: Uint8Array | null;
}

/** The bytes are not a protocol buffer message. */
export class WireError extends Error {}

/** A field to write: bytes, which may be a message, or a number from 0 to 2^64 - 1. */
export type OutgoingField =
  | { readonly number: number; readonly bytes: Uint8Array }
  | { readonly number: number; readonly varint: bigint };

/** A message with these fields, in this order. Field numbers are below 16, so that each key takes one byte. */
export function encodeFields(fields: readonly OutgoingField[]): Buffer {
  const parts: Uint8Array[] = [];
  for (const field of fields) {
    if ("bytes" in field) {
      const key = (field.number << WIRE_TYPE_BITS) | WIRE_LENGTH_DELIMITED;
      parts.push(Uint8Array.from([key, ...encodeVarint(BigInt(field.bytes.length))]), field.bytes);
    } else {
      const key = (field.number << WIRE_TYPE_BITS) | WIRE_VARINT;
      parts.push(Uint8Array.from([key, ...encodeVarint(field.varint)]));
    }
  }
  return Buffer.concat(parts);
}

function encodeVarint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest > PAYLOAD_MASK) {
    bytes.push(Number(rest & BigInt(PAYLOAD_MASK)) | CONTINUED);
    rest >>= BigInt(PAYLOAD_BITS);
  }
  bytes.push(Number(rest));
  return bytes;
}

/** The fields of a message, in their order. Raises WireError. */
export function* decodeFields(message: Uint8Array): Generator<Field, void, void> {
  let at = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let count = 0; count < VARINT_BYTES_MAX; count++) {
      const byte = message[at++];
      if (byte === undefined) {
        throw new WireError("a number ends early");
      }
      value |= BigInt(byte & PAYLOAD_MASK) << BigInt(count * PAYLOAD_BITS);
      if (byte < CONTINUED) {
        return value;
      }
    }
    throw new WireError("a number is longer than 64 bits");
  };
  const readBytes = (length: number): Uint8Array => {
    if (length > message.length - at) {
      throw new WireError("a field ends early");
    }
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const key = Number(readVarint());
    const number = key >>> WIRE_TYPE_BITS;
    switch (key & ((1 << WIRE_TYPE_BITS) - 1)) {
      case WIRE_VARINT:
        yield { number, varint: readVarint(), bytes: null };
        break;
      case WIRE_LENGTH_DELIMITED:
        yield { number, varint: null, bytes: readBytes(Number(readVarint())) };
        break;
      case WIRE_FIXED64:
        readBytes(8);
        break;
      case WIRE_FIXED32:
        readBytes(4);
        break;
      default:
        throw new WireError(`field ${number} has an unknown type`);
    }
  }
}
