/**
 * Frames: the units of a connection between members.
 *
 * Layout, big-endian: length of the body (4) · type (1) · flags, zero (1) · zero (2) · crc32 of the body (4) · body.
 * The parser checks length and type before it stores any byte of the body. A frame that is too long, has an unknown
 * form or type, or a wrong checksum makes the whole stream untrustworthy: the connection ends.
 */

import { crc32 } from "node:zlib";

export interface Frame {
  readonly type: number;
  /**
   * Often a view into a larger piece of received bytes. Nothing overwrites them, but copy anything that you keep for
   * long.
   */
  readonly body: Uint8Array;
}

export const FRAME_HEADER_BYTES = 12;
/** Larger than any entry with its message around it. */
export const FRAME_BODY_BYTES_MAX = 16 * 1024 * 1024;

/** The bytes on the stream violate this protocol. Ends the connection, and nothing else. */
export class FrameError extends Error {}

/** The header of a frame; the body follows it on the stream. */
export function frameHeader(frame: Frame): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
  writeFrameHeader(header, 0, frame);
  return header;
}

/** Writes the header of a frame at the offset, and returns the offset after it. */
export function writeFrameHeader(bytes: Buffer, offset: number, { type, body }: Frame): number {
  bytes.writeUInt32BE(body.length, offset);
  bytes.writeUInt32BE(type * 0x100_0000, offset + 4);
  return bytes.writeUInt32BE(crc32(body), offset + 8);
}

/** The frames that may come next. */
export interface ExpectedFrames {
  readonly bodyBytesMax: number;
  accepts(type: number): boolean;
}

/**
 * Cuts a stream of bytes into frames, independent of the chunks in which it arrives.
 *
 * A body within one chunk is a view of that chunk; a body that spans chunks is copied into memory of its own size.
 * After a FrameError the parser must not be used any more.
 */
export class FrameParser {
  readonly #header = Buffer.alloc(FRAME_HEADER_BYTES);
  #headerBytes = 0;
  /** The incomplete body; null while the next bytes belong to a header. */
  #body: Buffer | null = null;
  #bodyBytes = 0;
  #expected: ExpectedFrames;

  constructor(expected: ExpectedFrames) {
    this.#expected = expected;
  }

  /** Changes the expected frames from the next header on. Frames already delivered are not checked again. */
  expect(expected: ExpectedFrames): void {
    this.#expected = expected;
  }

  /** Takes the next bytes of the stream and delivers each frame that is complete. Raises a FrameError. */
  push(chunk: Buffer, deliver: (frame: Frame) => void): void {
    let offset = 0;
    while (offset < chunk.length) {
      offset = this.#body === null ? this.#takeHeader(chunk, offset, deliver) : this.#takeBody(chunk, offset, deliver);
    }
  }

  #takeHeader(chunk: Buffer, offset: number, deliver: (frame: Frame) => void): number {
    const taken = chunk.copy(this.#header, this.#headerBytes, offset);
    this.#headerBytes += taken;
    const next = offset + taken;
    if (this.#headerBytes < FRAME_HEADER_BYTES) {
      return next;
    }
    const length = this.#checkedLength();
    if (chunk.length - next >= length) {
      this.#finish(chunk.subarray(next, next + length), deliver);
      return next + length;
    }
    this.#body = Buffer.allocUnsafeSlow(length);
    this.#bodyBytes = 0;
    return next;
  }

  #takeBody(chunk: Buffer, offset: number, deliver: (frame: Frame) => void): number {
    const body = this.#body as Buffer;
    const taken = chunk.copy(body, this.#bodyBytes, offset);
    this.#bodyBytes += taken;
    if (this.#bodyBytes === body.length) {
      this.#body = null;
      this.#finish(body, deliver);
    }
    return offset + taken;
  }

  #checkedLength(): number {
    const length = this.#header.readUInt32BE(0);
    const type = this.#header.readUInt8(4);
    if (length > this.#expected.bodyBytesMax) {
      throw new FrameError(`a frame of ${length} bytes is longer than ${this.#expected.bodyBytesMax}`);
    }
    if (this.#header.readUInt8(5) !== 0 || this.#header.readUInt16BE(6) !== 0) {
      throw new FrameError("a frame has an unknown form");
    }
    if (!this.#expected.accepts(type)) {
      throw new FrameError(`a frame of type ${type} does not belong here`);
    }
    return length;
  }

  #finish(body: Buffer, deliver: (frame: Frame) => void): void {
    if (crc32(body) !== this.#header.readUInt32BE(8)) {
      throw new FrameError("a frame has a wrong checksum");
    }
    this.#headerBytes = 0;
    deliver({ type: this.#header.readUInt8(4), body });
  }
}
