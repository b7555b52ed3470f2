/**
 * The messages of etcd's gRPC interface for locks, as far as the benchmark uses them. Only the fields that it
 * uses are here:
 *
 *   LockRequest    1 name, 2 lease    LockResponse    1 header, 2 key
 *   UnlockRequest  1 key              UnlockResponse  1 header
 */

import { decodeHeaderOnly } from "./etcd-messages.ts";
import { decodeFields, encodeFields } from "./wire.ts";

export interface LockedKey {
  /** Identifies the hold at its release. */
  readonly key: Uint8Array;
  /** A revision at which the lock was seen as held. */
  readonly revision: bigint;
}

export function encodeLockRequest(name: string, lease: bigint): Buffer {
  return encodeFields([
    { number: 1, bytes: Buffer.from(name) },
    { number: 2, varint: lease },
  ]);
}

/** Raises WireError. */
export function decodeLockResponse(message: Uint8Array): LockedKey {
  const { revision } = decodeHeaderOnly(message);
  let key: Uint8Array = new Uint8Array(0);
  for (const { number, bytes } of decodeFields(message)) {
    if (number === 2 && bytes !== null) {
      key = bytes;
    }
  }
  return { key, revision };
}

export function encodeUnlockRequest(key: Uint8Array): Buffer {
  return encodeFields([{ number: 1, bytes: key }]);
}
