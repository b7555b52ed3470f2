/**
 * The rules of RFC 9113 §6 for a frame's length, stream and flags, independent of earlier frames. A frame is checked by
 * its head, before its payload arrives, so a wrong frame never takes memory.
 */
import { ErrorCode } from "./error-code.ts";
import {
  ACK,
  CONTINUATION,
  DATA,
  GOAWAY,
  GOAWAY_BYTES_MIN,
  HAS_PRIORITY,
  HEADERS,
  PADDED,
  PING,
  PING_BYTES,
  PRIORITY,
  PRIORITY_BYTES,
  PUSH_PROMISE,
  RST_STREAM,
  RST_STREAM_BYTES,
  SETTING_BYTES,
  SETTINGS,
  WINDOW_UPDATE,
  WINDOW_UPDATE_BYTES,
} from "./frame.ts";

const { NoError, ProtocolError, FrameSizeError } = ErrorCode;

/**
 * Returns the code with which the connection must end because of a client's frame; NoError if the head is valid. A
 * PRIORITY frame with a wrong length ends only its stream (§6.3), so its length is checked elsewhere.
 */
export function headErrorOf(type: number, flags: number, streamId: number, length: number): number {
  switch (type) {
    case DATA:
      return streamId === 0 ? ProtocolError : lengthAtLeast((flags & PADDED) !== 0 ? 1 : 0, length);
    case HEADERS:
      // A client opens streams with odd numbers (§5.1.1), and only these have header blocks.
      return (streamId & 1) === 0 ? ProtocolError : lengthAtLeast(bytesBeforeBlock(flags), length);
    case PRIORITY:
    case CONTINUATION:
      return streamId === 0 ? ProtocolError : NoError;
    case RST_STREAM:
      return streamId === 0 ? ProtocolError : lengthOf(RST_STREAM_BYTES, length);
    case SETTINGS:
      return streamId !== 0 ? ProtocolError : settingsLength(flags, length);
    case PUSH_PROMISE:
      return ProtocolError;
    case PING:
      return streamId !== 0 ? ProtocolError : lengthOf(PING_BYTES, length);
    case GOAWAY:
      return streamId !== 0 ? ProtocolError : lengthAtLeast(GOAWAY_BYTES_MIN, length);
    case WINDOW_UPDATE:
      return lengthOf(WINDOW_UPDATE_BYTES, length);
    default:
      return NoError;
  }
}

/** Bytes before the header block of a HEADERS frame: the length of the padding, and the priority fields. */
function bytesBeforeBlock(flags: number): number {
  return ((flags & PADDED) !== 0 ? 1 : 0) + ((flags & HAS_PRIORITY) !== 0 ? PRIORITY_BYTES : 0);
}

function settingsLength(flags: number, length: number): number {
  return (flags & ACK) !== 0 ? lengthOf(0, length) : lengthOf(0, length % SETTING_BYTES);
}

function lengthOf(expected: number, length: number): number {
  return length === expected ? NoError : FrameSizeError;
}

function lengthAtLeast(least: number, length: number): number {
  return length >= least ? NoError : FrameSizeError;
}
