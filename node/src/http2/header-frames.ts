/**
 * Decodes the header blocks in HEADERS and CONTINUATION frames (RFC 9113 §6.2 and §6.10). A block in one frame is
 * decoded in place.
 */

import { ErrorCode } from "./error-code.ts";
import { END_HEADERS, END_STREAM, HAS_PRIORITY, PADDED, PRIORITY_BYTES, readUint31 } from "./frame.ts";
import { HeaderBlock } from "./header-block.ts";
import { type DecodedFields, HeaderCompressionError, HeaderDecoder } from "./hpack/index.ts";
import type { Http2Limits } from "./limits.ts";
import type { ProtocolEnforcement } from "./protocol-enforcement.ts";
import type { RequestFrames } from "./request-frames.ts";

/**
 * No encoder makes a larger block of a list. So a list that is slightly too large is decoded, and only it is refused.
 */
const BLOCK_BYTES_PER_LIST_BYTE = 4;

export class HeaderFrames {
  readonly #enforcement: ProtocolEnforcement;
  readonly #requests: RequestFrames;
  readonly #decoder: HeaderDecoder;
  readonly #block: HeaderBlock;
  /** Whether the priority in the last HEADERS frame depends on its own stream. */
  #isOwnDependency = false;

  constructor(limits: Http2Limits, enforcement: ProtocolEnforcement, requests: RequestFrames) {
    const { headerTableBytes, headerListBytes, continuationFrames } = limits;
    this.#enforcement = enforcement;
    this.#requests = requests;
    this.#decoder = new HeaderDecoder({ tableBytesMax: headerTableBytes, listBytesMax: headerListBytes });
    this.#block = new HeaderBlock(BLOCK_BYTES_PER_LIST_BYTE * headerListBytes, continuationFrames);
  }

  /** The stream of the incomplete block, which the next frame must continue; 0 if there is none. */
  get openStreamId(): number {
    return this.#block.streamId;
  }

  get incompleteBytes(): number {
    return this.#block.length;
  }

  /** Call it when the client has acknowledged the server's SETTINGS. */
  acknowledgeSettings(): void {
    this.#decoder.acknowledgeSettings();
  }

  /** Frees an incomplete block. */
  stop(): void {
    this.#block.end();
  }

  /** Reads a HEADERS frame; its length was checked by its flags. */
  onHeaders(flags: number, streamId: number, bytes: Uint8Array, from: number, to: number): void {
    let at = from;
    let end = to;
    if ((flags & PADDED) !== 0) {
      end -= bytes[at] as number;
      at++;
    }
    const hasPriority = (flags & HAS_PRIORITY) !== 0;
    this.#isOwnDependency = hasPriority && readUint31(bytes, at) === streamId;
    at += hasPriority ? PRIORITY_BYTES : 0;
    const endsStream = (flags & END_STREAM) !== 0;
    if (at > end) {
      this.#enforcement.fail("wrong-padding", ErrorCode.ProtocolError);
    } else if ((flags & END_HEADERS) !== 0) {
      this.#decode(streamId, endsStream, bytes, at, end);
    } else {
      this.#block.begin(streamId, endsStream);
      this.#addToBlock(bytes, at, end);
    }
  }

  /** Reads a CONTINUATION frame for the stream of the incomplete block. */
  onContinuation(flags: number, bytes: Uint8Array, from: number, to: number): void {
    if (this.#addToBlock(bytes, from, to) && (flags & END_HEADERS) !== 0) {
      const { streamId, endsStream, bytes: whole, length } = this.#block;
      this.#block.end();
      this.#decode(streamId, endsStream, whole, 0, length);
    }
  }

  #addToBlock(bytes: Uint8Array, from: number, to: number): boolean {
    const problem = this.#block.add(bytes, from, to);
    if (problem !== null) {
      this.#enforcement.fail(problem, ErrorCode.EnhanceYourCalm);
    }
    return problem === null;
  }

  #decode(streamId: number, endsStream: boolean, bytes: Uint8Array, from: number, to: number): void {
    let decoded: DecodedFields;
    try {
      decoded = this.#decoder.decode(bytes, from, to);
    } catch (error) {
      if (!(error instanceof HeaderCompressionError)) {
        throw error;
      }
      // The two sides no longer have the same compression state.
      this.#enforcement.fail("wrong-header-block", ErrorCode.CompressionError);
      return;
    }
    this.#requests.onBlock(streamId, endsStream, this.#isOwnDependency, decoded);
  }
}
