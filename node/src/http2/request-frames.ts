/**
 * Makes requests from header blocks and DATA, within their receive windows (RFC 9113 §5.2 and §8.1). Bytes are passed
 * on in the received buffer and never stored.
 */

import type { StreamRefusal } from "./close-reason.ts";
import type { ConnectionParts } from "./connection-parts.ts";
import { ErrorCode } from "./error-code.ts";
import { END_STREAM } from "./frame.ts";
import type { DecodedFields } from "./hpack/index.ts";
import type { ProtocolEnforcement } from "./protocol-enforcement.ts";
import { ReceiveWindow } from "./receive-window.ts";
import { areGoodTrailers, RequestFields, UNDECLARED } from "./request-fields.ts";
import type { ServerStream } from "./server-stream.ts";

const NO_FIELDS: readonly string[] = [];

export class RequestFrames {
  readonly #parts: ConnectionParts;
  readonly #enforcement: ProtocolEnforcement;
  readonly #requestFields = new RequestFields();
  readonly #window: ReceiveWindow;
  #isStopped = false;
  /** The stream of the DATA that arrives now; null if it is ignored. */
  #dataStream: ServerStream | null = null;
  #dataEndsStream = false;

  constructor(parts: ConnectionParts, enforcement: ProtocolEnforcement) {
    this.#parts = parts;
    this.#enforcement = enforcement;
    this.#window = new ReceiveWindow(parts.limits.unreadBytes);
  }

  /** Bytes of all streams that are received and not consumed. */
  get unreadBytes(): number {
    return this.#window.unreadBytes;
  }

  /** Stops: gives no more bytes back. */
  stop(): void {
    this.#isStopped = true;
    this.#dataStream = null;
  }

  /** Counts consumed bytes of an open stream. */
  consume(stream: ServerStream, count: number): void {
    if (count > stream.unreadBytes) {
      throw new RangeError("More bytes of a request are consumed than were received");
    }
    stream.unreadBytes -= count;
    this.#returnWindow(stream, count);
  }

  /** Drops the bytes that an ended stream did not consume, so that the connection may receive as many again. */
  release(stream: ServerStream): void {
    this.#returnWindow(null, stream.unreadBytes);
    stream.unreadBytes = 0;
  }

  onDataHead(flags: number, streamId: number, length: number, overhead: number): void {
    if (overhead > length) {
      this.#enforcement.fail("wrong-padding", ErrorCode.ProtocolError);
      return;
    }
    if (!this.#window.receive(length)) {
      this.#enforcement.fail("window-overrun", ErrorCode.FlowControlError);
      return;
    }
    this.#dataEndsStream = (flags & END_STREAM) !== 0;
    if (length === overhead && !this.#dataEndsStream && !this.#enforcement.allows("emptyData")) {
      return;
    }
    this.#dataStream = this.#streamOfData(streamId, length);
    if (overhead > 0) {
      this.#returnWindow(this.#dataStream, overhead);
    }
  }

  onDataPart(bytes: Uint8Array, from: number, to: number): void {
    const stream = this.#dataStream;
    const count = to - from;
    if (stream === null || !stream.isOpen) {
      this.#returnWindow(null, count);
      return;
    }
    stream.receivedBytes += count;
    stream.unreadBytes += count;
    if (stream.declaredBytes !== UNDECLARED && stream.receivedBytes > stream.declaredBytes) {
      this.#enforcement.refuseOpen(stream, "wrong-content-length");
    } else {
      stream.handler.onData(stream, bytes, from, to);
    }
  }

  onDataEnd(): void {
    const stream = this.#dataStream;
    this.#dataStream = null;
    if (this.#dataEndsStream && stream?.isOpen) {
      this.#endRequest(stream, NO_FIELDS);
    }
  }

  /** Returns the stream of DATA; null if the DATA must be ignored. */
  #streamOfData(streamId: number, length: number): ServerStream | null {
    const stream = this.#parts.streams.get(streamId);
    if (stream === undefined) {
      this.#onDataForClosed(streamId);
      return null;
    }
    if (!stream.isRequestOpen) {
      this.#enforcement.refuseOpen(stream, "closed-stream");
      return null;
    }
    if (!stream.receiveWindow.receive(length)) {
      this.#enforcement.refuseOpen(stream, "window-overrun");
      return null;
    }
    return stream;
  }

  #onDataForClosed(streamId: number): void {
    const state = this.#parts.streams.closedStateOf(streamId);
    if (state === "idle") {
      this.#enforcement.fail("wrong-stream", ErrorCode.ProtocolError);
    } else if (state !== "reset") {
      this.#enforcement.refuseClosed(streamId, "closed-stream");
    }
  }

  /** Gives consumed bytes back: to the connection, and to the stream if one is given. */
  #returnWindow(stream: ServerStream | null, count: number): void {
    if (this.#isStopped) {
      return;
    }
    const { sender } = this.#parts;
    const increment = this.#window.release(count);
    if (increment > 0) {
      sender.sendWindowUpdate(0, increment);
    }
    if (stream?.isRequestOpen) {
      const ofStream = stream.receiveWindow.release(count);
      if (ofStream > 0) {
        sender.sendWindowUpdate(stream.id, ofStream);
      }
    }
  }

  /** Handles a valid header block. It was decoded even if it is refused, because later blocks depend on it. */
  onBlock(streamId: number, endsStream: boolean, isOwnDependency: boolean, decoded: DecodedFields): void {
    const { streams } = this.#parts;
    const stream = streams.get(streamId);
    if (stream !== undefined) {
      this.#onTrailers(stream, endsStream, isOwnDependency, decoded);
    } else if (streamId > streams.lastId) {
      this.#onRequest(streamId, endsStream, isOwnDependency, decoded);
    } else {
      this.#onBlockForClosed(streamId);
    }
  }

  #onRequest(streamId: number, endsStream: boolean, isOwnDependency: boolean, decoded: DecodedFields): void {
    const { streams } = this.#parts;
    streams.lastId = streamId;
    if (!this.#parts.owner.serves(streamId)) {
      // The client knows from GOAWAY that the stream is not served.
      streams.reset(streamId);
      return;
    }
    const refusal = this.#refusalOf(endsStream, isOwnDependency, decoded);
    if (refusal !== null) {
      this.#enforcement.refuseClosed(streamId, refusal);
      return;
    }
    const stream = this.#parts.owner.open(streamId, decoded.fields, this.#requestFields.declaredBytes);
    if (endsStream && stream.isOpen) {
      this.#endRequest(stream, NO_FIELDS);
    }
  }

  /** Returns why a new stream is refused; null if it is not. */
  #refusalOf(endsStream: boolean, isOwnDependency: boolean, decoded: DecodedFields): StreamRefusal | null {
    const { limits, streams } = this.#parts;
    if (streams.size >= limits.concurrentStreams) {
      return "too-many-streams";
    }
    if (decoded.isTooLarge) {
      return "header-list-too-large";
    }
    if (isOwnDependency) {
      return "wrong-priority";
    }
    if (!this.#requestFields.areGood(decoded.fields)) {
      return "malformed-request";
    }
    return endsStream && this.#requestFields.declaredBytes > 0 ? "wrong-content-length" : null;
  }

  #onTrailers(stream: ServerStream, endsStream: boolean, isOwnDependency: boolean, decoded: DecodedFields): void {
    if (!stream.isRequestOpen) {
      this.#enforcement.refuseOpen(stream, "closed-stream");
    } else if (decoded.isTooLarge) {
      this.#enforcement.refuseOpen(stream, "header-list-too-large");
    } else if (isOwnDependency) {
      this.#enforcement.refuseOpen(stream, "wrong-priority");
    } else if (!endsStream || !areGoodTrailers(decoded.fields)) {
      this.#enforcement.refuseOpen(stream, "malformed-trailers");
    } else {
      this.#endRequest(stream, decoded.fields);
    }
  }

  /** Handles a header block for a stream that is not open. */
  #onBlockForClosed(streamId: number): void {
    const state = this.#parts.streams.closedStateOf(streamId);
    if (state !== "reset") {
      // A number that was skipped can no longer be used (§5.1.1).
      const code = state === "ended" ? ErrorCode.StreamClosed : ErrorCode.ProtocolError;
      this.#enforcement.fail("wrong-stream", code);
    }
  }

  #endRequest(stream: ServerStream, trailers: readonly string[]): void {
    if (stream.declaredBytes !== UNDECLARED && stream.receivedBytes !== stream.declaredBytes) {
      this.#enforcement.refuseOpen(stream, "wrong-content-length");
      return;
    }
    stream.isRequestOpen = false;
    stream.handler.onEnd(stream, trailers);
  }
}
