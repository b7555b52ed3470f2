/** Applies the SETTINGS frames of a client (RFC 9113 §6.5). */
import { ErrorCode } from "./error-code.ts";
import {
  ENABLE_PUSH,
  FRAME_BYTES_HIGHEST,
  FRAME_BYTES_INITIAL,
  HEADER_TABLE_SIZE,
  INITIAL_WINDOW_SIZE,
  MAX_FRAME_SIZE,
  readUint32,
  SETTING_BYTES,
  UINT31_MAX,
} from "./frame.ts";

const ID_BYTES = 2;

export interface SettingsTarget {
  /** Called for each value, because both the lowest and the last one matter (RFC 7541 §4.2). */
  onHeaderTableSize(bytes: number): void;
  /**
   * Called for the last value only; it changes the windows of all streams. Returns false if a window became too large.
   */
  onInitialWindowSize(bytes: number): boolean;
  onMaxFrameSize(bytes: number): void;
}

/**
 * Applies the settings from `from` to `to`, a multiple of six bytes, in their order. It ignores settings about requests
 * from a server, and unknown ones.
 *
 * Returns the code with which the connection must end because of a value; NoError if all values are valid.
 */
export function applySettings(bytes: Uint8Array, from: number, to: number, target: SettingsTarget): number {
  let windowBytes: number | undefined;
  for (let at = from; at < to; at += SETTING_BYTES) {
    const id = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
    const value = readUint32(bytes, at + ID_BYTES);
    const error = valueErrorOf(id, value);
    if (error !== ErrorCode.NoError) {
      return error;
    }
    if (id === HEADER_TABLE_SIZE) {
      target.onHeaderTableSize(value);
    } else if (id === INITIAL_WINDOW_SIZE) {
      windowBytes = value;
    } else if (id === MAX_FRAME_SIZE) {
      target.onMaxFrameSize(value);
    }
  }
  const isWindowGood = windowBytes === undefined || target.onInitialWindowSize(windowBytes);
  return isWindowGood ? ErrorCode.NoError : ErrorCode.FlowControlError;
}

function valueErrorOf(id: number, value: number): number {
  switch (id) {
    case ENABLE_PUSH:
      return value <= 1 ? ErrorCode.NoError : ErrorCode.ProtocolError;
    case INITIAL_WINDOW_SIZE:
      return value <= UINT31_MAX ? ErrorCode.NoError : ErrorCode.FlowControlError;
    case MAX_FRAME_SIZE:
      return value >= FRAME_BYTES_INITIAL && value <= FRAME_BYTES_HIGHEST ? ErrorCode.NoError : ErrorCode.ProtocolError;
    default:
      return ErrorCode.NoError;
  }
}
