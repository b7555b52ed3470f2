/** The frames of HTTP/2 (RFC 9113 §4 and §6): numbers, sizes, and functions that write heads. */

/** The preface that a client sends before its first frame (§3.4). */
export const PREFACE: Uint8Array = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/** The bytes before each payload: its length, type, flags and stream (§4.1). */
export const HEAD_BYTES = 9;

export const DATA = 0x0;
export const HEADERS = 0x1;
export const PRIORITY = 0x2;
export const RST_STREAM = 0x3;
export const SETTINGS = 0x4;
export const PUSH_PROMISE = 0x5;
export const PING = 0x6;
export const GOAWAY = 0x7;
export const WINDOW_UPDATE = 0x8;
export const CONTINUATION = 0x9;

/** Flag of SETTINGS and PING. */
export const ACK = 0x1;
/** Flag of DATA and HEADERS. */
export const END_STREAM = 0x1;
/** Flag of HEADERS and CONTINUATION. */
export const END_HEADERS = 0x4;
/** Flag of DATA and HEADERS: a byte with the length of the padding comes first. */
export const PADDED = 0x8;
/** Flag of HEADERS: the fields of a PRIORITY frame come before the header block. */
export const HAS_PRIORITY = 0x20;

export const PRIORITY_BYTES = 5;
export const RST_STREAM_BYTES = 4;
export const SETTING_BYTES = 6;
export const PING_BYTES = 8;
/** Minimum bytes of a GOAWAY frame: the last stream, and the code. */
export const GOAWAY_BYTES_MIN = 8;
export const WINDOW_UPDATE_BYTES = 4;

export const HEADER_TABLE_SIZE = 0x1;
export const ENABLE_PUSH = 0x2;
export const MAX_CONCURRENT_STREAMS = 0x3;
export const INITIAL_WINDOW_SIZE = 0x4;
export const MAX_FRAME_SIZE = 0x5;
export const MAX_HEADER_LIST_SIZE = 0x6;

/** The window of a stream and of a connection before SETTINGS or WINDOW_UPDATE change it (§6.9.2). */
export const WINDOW_BYTES_INITIAL = 65_535;
/** The largest window, and the highest number of a stream. */
export const UINT31_MAX = 0x7fff_ffff;
/** Initial and minimum value, and maximum value, of SETTINGS_MAX_FRAME_SIZE (§6.5.2). */
export const FRAME_BYTES_INITIAL = 16_384;
export const FRAME_BYTES_HIGHEST = 0xff_ffff;

/** Writes the head of a frame. Returns where its payload begins. */
export function writeHead(
  bytes: Uint8Array,
  at: number,
  length: number,
  type: number,
  flags: number,
  streamId: number,
): number {
  bytes[at] = length >>> 16;
  bytes[at + 1] = length >>> 8;
  bytes[at + 2] = length;
  bytes[at + 3] = type;
  bytes[at + 4] = flags;
  return writeUint32(bytes, at + 5, streamId);
}

/** Writes 32 bits. Returns where they end. */
export function writeUint32(bytes: Uint8Array, at: number, value: number): number {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
  return at + 4;
}

/** Returns the 32 bits at `at`, from 0 to 2^32 - 1. */
export function readUint32(bytes: Uint8Array, at: number): number {
  return (
    (((bytes[at] as number) << 24) |
      ((bytes[at + 1] as number) << 16) |
      ((bytes[at + 2] as number) << 8) |
      (bytes[at + 3] as number)) >>>
    0
  );
}

/** Returns the 32 bits at `at` without the first bit, which is reserved in windows and in numbers of streams. */
export function readUint31(bytes: Uint8Array, at: number): number {
  return readUint32(bytes, at) & UINT31_MAX;
}
