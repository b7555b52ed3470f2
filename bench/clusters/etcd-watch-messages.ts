/**
 * The messages of etcd's gRPC interface for watches, as far as the benchmark uses them. Only the fields that it uses are
 * here:
 *
 *   WatchRequest        1 create_request       WatchResponse  3 created, 4 canceled, 6 cancel_reason, 11 events
 *   WatchCreateRequest  1 key, 2 range_end     Event          1 type, 2 kv
 */

import type { WatchedPut } from "./connection.ts";
import { decodeKeyValue, prefixFields } from "./etcd-messages.ts";
import type { WatchMessage } from "./watch-message.ts";
import { decodeFields, encodeFields, WireError } from "./wire.ts";

/** Requests future changes of the keys with the prefix. */
export function encodeWatchRequest(prefix: string): Buffer {
  return encodeFields([{ number: 1, bytes: encodeFields(prefixFields(prefix)) }]);
}

/** Raises WireError, and an error for a watch that was cancelled or that reports something other than puts. */
export function decodeWatchResponse(message: Uint8Array): WatchMessage {
  const puts: WatchedPut[] = [];
  let isCreated = false;
  let isCancelled = false;
  let reason = "";
  for (const { number, bytes, varint } of decodeFields(message)) {
    if (number === 3 && varint !== null) {
      isCreated = varint === 1n;
    } else if (number === 4 && varint !== null) {
      isCancelled = varint === 1n;
    } else if (number === 6 && bytes !== null) {
      reason = Buffer.from(bytes).toString();
    } else if (number === 11 && bytes !== null) {
      puts.push(decodeEvent(bytes));
    }
  }
  if (isCancelled) {
    throw new Error(`the watch was cancelled: ${reason}`);
  }
  return { isCreated, puts };
}

/** A put has the type 0, which is not encoded. */
function decodeEvent(message: Uint8Array): WatchedPut {
  let put: WatchedPut | null = null;
  for (const { number, bytes, varint } of decodeFields(message)) {
    if (number === 1 && varint !== null && varint !== 0n) {
      throw new Error(`a watch of puts received an event of type ${varint}`);
    } else if (number === 2 && bytes !== null) {
      const { key, modRevision } = decodeKeyValue(bytes);
      put = { key, revision: modRevision };
    }
  }
  if (put === null) {
    throw new WireError("an event has no key");
  }
  return put;
}
