/** The SETTINGS that the server sends (RFC 9113 §6.5.2): the limits that a client must know. */
import {
  HEADER_TABLE_SIZE,
  INITIAL_WINDOW_SIZE,
  MAX_CONCURRENT_STREAMS,
  MAX_HEADER_LIST_SIZE,
  SETTING_BYTES,
  UINT31_MAX,
  WINDOW_BYTES_INITIAL,
  writeUint32,
} from "./frame.ts";
import type { Http2Limits } from "./limits.ts";

/**
 * Returns the payload of the frame. Throws RangeError if a window is not between 65,535 bytes, which a client may send
 * before it has read these settings, and 2^31 - 1.
 */
export function encodeOwnSettings(limits: Http2Limits): Uint8Array {
  for (const bytes of [limits.streamUnreadBytes, limits.unreadBytes]) {
    if (bytes < WINDOW_BYTES_INITIAL || bytes > UINT31_MAX) {
      throw new RangeError(`A window of ${bytes} bytes is not between ${WINDOW_BYTES_INITIAL} and ${UINT31_MAX}`);
    }
  }
  const settings = [
    [HEADER_TABLE_SIZE, limits.headerTableBytes],
    [MAX_CONCURRENT_STREAMS, limits.concurrentStreams],
    [INITIAL_WINDOW_SIZE, limits.streamUnreadBytes],
    [MAX_HEADER_LIST_SIZE, limits.headerListBytes],
  ] as const;
  const payload = new Uint8Array(settings.length * SETTING_BYTES);
  let at = 0;
  for (const [id, value] of settings) {
    payload[at] = id >>> 8;
    payload[at + 1] = id;
    at = writeUint32(payload, at + 2, value);
  }
  return payload;
}
