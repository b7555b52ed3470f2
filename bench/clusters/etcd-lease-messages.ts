/**
 * The messages of etcd's gRPC interface for leases, as far as the benchmark uses them. Only the fields that it uses are
 * here:
 *
 *   LeaseGrantRequest      1 TTL      LeaseGrantResponse      1 header, 2 ID, 4 error
 *   LeaseKeepAliveRequest  1 ID       LeaseKeepAliveResponse  1 header, 2 ID, 3 TTL
 *   LeaseLeasesRequest     (none)     LeaseLeasesResponse     1 header, 2 leases
 */

import { decodeHeaderOnly } from "./etcd-messages.ts";
import { decodeFields, encodeFields } from "./wire.ts";

export interface Lease {
  readonly id: bigint;
  /** Why there is no lease; "" if there is one. */
  readonly error: string;
  readonly revision: bigint;
}

/** An answer to a keep-alive. */
export interface KeptLease {
  readonly id: bigint;
  /** Remaining time to live; 0 = there is no such lease. */
  readonly ttlSeconds: bigint;
  readonly revision: bigint;
}

export function encodeLeaseGrantRequest(ttlSeconds: bigint): Buffer {
  return encodeFields([{ number: 1, varint: ttlSeconds }]);
}

/** Raises WireError, like all decoders here. */
export function decodeLeaseGrantResponse(message: Uint8Array): Lease {
  const { revision } = decodeHeaderOnly(message);
  let id = 0n;
  let error = "";
  for (const { number, varint, bytes } of decodeFields(message)) {
    if (number === 2 && varint !== null) {
      id = varint;
    } else if (number === 4 && bytes !== null) {
      error = Buffer.from(bytes).toString();
    }
  }
  return { id, error, revision };
}

export function encodeKeepAliveRequest(id: bigint): Buffer {
  return encodeFields([{ number: 1, varint: id }]);
}

export function decodeKeepAliveResponse(message: Uint8Array): KeptLease {
  const { revision } = decodeHeaderOnly(message);
  let id = 0n;
  let ttlSeconds = 0n;
  for (const { number, varint } of decodeFields(message)) {
    if (number === 2 && varint !== null) {
      id = varint;
    } else if (number === 3 && varint !== null) {
      ttlSeconds = varint;
    }
  }
  return { id, ttlSeconds, revision };
}

export function encodeLeasesRequest(): Buffer {
  return encodeFields([]);
}

/** The number of leases. */
export function decodeLeasesResponse(message: Uint8Array): number {
  let count = 0;
  for (const { number } of decodeFields(message)) {
    count += number === 2 ? 1 : 0;
  }
  return count;
}
