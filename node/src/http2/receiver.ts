/** The receiving half of a connection: finds the frames of a client, and passes each to the part that handles it. */

import type { ConnectionParts } from "./connection-parts.ts";
import { ControlFrames } from "./control-frames.ts";
import { ErrorCode } from "./error-code.ts";
import {
  ACK,
  CONTINUATION,
  FRAME_BYTES_INITIAL,
  GOAWAY,
  HEADERS,
  PING,
  PRIORITY,
  RST_STREAM,
  readUint31,
  readUint32,
  SETTINGS,
  WINDOW_UPDATE,
} from "./frame.ts";
import { FrameReader, type FrameSink } from "./frame-reader.ts";
import { headErrorOf } from "./frame-rules.ts";
import { HeaderFrames } from "./header-frames.ts";
import { ProtocolEnforcement } from "./protocol-enforcement.ts";
import { RequestFrames } from "./request-frames.ts";
import type { ServerStream } from "./server-stream.ts";

export class Receiver implements FrameSink {
  readonly #parts: ConnectionParts;
  readonly #reader = new FrameReader(this);
  readonly #enforcement: ProtocolEnforcement;
  readonly #headers: HeaderFrames;
  readonly #requests: RequestFrames;
  readonly #control: ControlFrames;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#enforcement = new ProtocolEnforcement(parts);
    this.#requests = new RequestFrames(parts, this.#enforcement);
    this.#headers = new HeaderFrames(parts.limits, this.#enforcement, this.#requests);
    this.#control = new ControlFrames(parts, this.#enforcement, () => this.#headers.acknowledgeSettings());
  }

  /** Whether the client has sent its first SETTINGS. */
  get hasSettings(): boolean {
    return this.#control.hasSettings;
  }

  /** The stream whose header block is incomplete; 0 if there is none. */
  get headersStreamId(): number {
    return this.#headers.openStreamId;
  }

  /** Bytes of all streams that are received and not consumed. */
  get unreadBytes(): number {
    return this.#requests.unreadBytes;
  }

  /** Bytes of incomplete frames and header blocks. */
  get incompleteBytes(): number {
    return this.#reader.bufferedBytes + this.#headers.incompleteBytes;
  }

  receive(bytes: Uint8Array, from: number, to: number, pauseAt: number): number {
    return this.#reader.read(bytes, from, to, pauseAt);
  }

  /** Receives nothing more. */
  stop(): void {
    this.#reader.stop();
    this.#headers.stop();
    this.#requests.stop();
  }

  /** Counts consumed bytes of an open stream. */
  consume(stream: ServerStream, count: number): void {
    this.#requests.consume(stream, count);
  }

  /** Drops the bytes that an ended stream did not consume. */
  release(stream: ServerStream): void {
    this.#requests.release(stream);
  }

  /** Counts a request that its user could not take as one that ended its stream by an error. */
  countStreamError(): void {
    this.#enforcement.allows("streamErrors");
  }

  onWrongPreface(): void {
    this.#enforcement.fail("wrong-preface", ErrorCode.ProtocolError);
  }

  onHead(type: number, flags: number, streamId: number, length: number): void {
    const error = length > FRAME_BYTES_INITIAL ? ErrorCode.FrameSizeError : headErrorOf(type, flags, streamId, length);
    if (error !== ErrorCode.NoError) {
      this.#enforcement.fail("wrong-frame", error);
    } else if (!this.#isInOrder(type, flags, streamId)) {
      this.#enforcement.fail("wrong-order", ErrorCode.ProtocolError);
    }
  }

  onFrame(type: number, flags: number, streamId: number, bytes: Uint8Array, from: number, to: number): void {
    switch (type) {
      case HEADERS:
        this.#headers.onHeaders(flags, streamId, bytes, from, to);
        break;
      case CONTINUATION:
        this.#headers.onContinuation(flags, bytes, from, to);
        break;
      case WINDOW_UPDATE:
        this.#control.onWindowUpdate(streamId, readUint31(bytes, from));
        break;
      case RST_STREAM:
        this.#control.onReset(streamId, readUint32(bytes, from));
        break;
      case PING:
        this.#control.onPing(flags, bytes, from);
        break;
      case SETTINGS:
        this.#control.onSettings(flags, bytes, from, to);
        break;
      case PRIORITY:
        this.#control.onPriority(streamId, bytes, from, to);
        break;
      case GOAWAY:
        this.#parts.owner.onPeerGoAway();
        break;
      default:
        // Frames of unknown types must be ignored (§5.5).
        this.#enforcement.allows("ignoredFrames");
    }
  }

  onDataHead(flags: number, streamId: number, length: number, overhead: number): void {
    this.#requests.onDataHead(flags, streamId, length, overhead);
  }

  onDataPart(bytes: Uint8Array, from: number, to: number): void {
    this.#requests.onDataPart(bytes, from, to);
  }

  onDataEnd(): void {
    this.#requests.onDataEnd();
  }

  /** Whether a frame is allowed at this point: SETTINGS first (§3.4), and a header block without a gap (§6.10). */
  #isInOrder(type: number, flags: number, streamId: number): boolean {
    if (this.#headers.openStreamId !== 0) {
      return type === CONTINUATION && streamId === this.#headers.openStreamId;
    }
    return type !== CONTINUATION && (this.#control.hasSettings || (type === SETTINGS && (flags & ACK) === 0));
  }
}
