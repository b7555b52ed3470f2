/**
 * A stream: one request and its answer (RFC 9113 §5.1). A user passes it to methods of its connection, and may read
 * `id` and `isOpen`; everything else belongs to the connection.
 *
 * It queues the part of the answer that cannot be sent yet, as references to the user's bytes.
 */
import { ReceiveWindow } from "./receive-window.ts";

/** The callbacks of a stream. `ConnectionHandler` says what all handlers may rely on. */
export interface StreamHandler {
  /**
   * Called for the next bytes of the request, from `from` to `to`; their memory is reused after the call. Call
   * `consume` for them, now or later, so that the client may send as many more.
   */
  onData(stream: ServerStream, bytes: Uint8Array, from: number, to: number): void;
  /** Called when the request is complete. `trailers` have the form of request fields; most requests have none. */
  onEnd(stream: ServerStream, trailers: readonly string[]): void;
  /** Called when the stream ended before its answer was complete; further work for it is lost. */
  onReset(stream: ServerStream, code: number): void;
  /**
   * Called when the stream takes bytes again after `write` has returned "full", or when it may be answered after
   * `mayAnswer` has returned false.
   */
  onWritable(stream: ServerStream): void;
  /** Called when the answer is complete, including its queued bytes. It is the last call for this stream. */
  onAnswered?(stream: ServerStream): void;
}

/** The handler of a stream before `onRequest` has returned. */
const NO_STREAM_HANDLER: StreamHandler = {
  onData: () => undefined,
  onEnd: () => undefined,
  onReset: () => undefined,
  onWritable: () => undefined,
};

const NO_CHUNKS: Uint8Array[] = [];

export class ServerStream {
  readonly id: number;
  handler: StreamHandler = NO_STREAM_HANDLER;
  /** Whether the request or the answer is incomplete, and no side has reset the stream. */
  isOpen = true;
  /** Whether the client may send more of the request. */
  isRequestOpen = true;
  /** Whether the first fields of the answer were sent. */
  hasResponded = false;
  /** Whether the user has ended the answer; its rest may still be queued. */
  isEnding = false;
  /** The trailers of an answer that is ending. */
  trailers: readonly string[] = [];
  /** Bytes of the request's body: declared by content-length, and received. */
  readonly declaredBytes: number;
  receivedBytes = 0;
  /** Bytes that the handler has received but not consumed. */
  unreadBytes = 0;
  readonly receiveWindow: ReceiveWindow;
  /** Bytes that the server may send on this stream. May be below 0 after the client has lowered its initial window. */
  sendWindow: number;
  /** Queued bytes of the answer. */
  queuedBytes = 0;
  /** The neighbours in the send queue. */
  previous: ServerStream | null = null;
  next: ServerStream | null = null;
  isQueued = false;
  #chunks = NO_CHUNKS;
  /** Bytes of the first chunk that were sent. */
  #sentOfFirst = 0;

  constructor(id: number, declaredBytes: number, receiveWindow: number, sendWindow: number) {
    this.id = id;
    this.declaredBytes = declaredBytes;
    this.receiveWindow = new ReceiveWindow(receiveWindow);
    this.sendWindow = sendWindow;
  }

  /** Queues bytes. They must not change. */
  queue(bytes: Uint8Array): void {
    if (bytes.length === 0) {
      return;
    }
    if (this.#chunks === NO_CHUNKS) {
      this.#chunks = [];
    }
    this.#chunks.push(bytes);
    this.queuedBytes += bytes.length;
  }

  /** Moves `count` queued bytes to `target`; `count` is at most `queuedBytes`. */
  unqueue(count: number, target: Uint8Array, at: number): void {
    let moved = 0;
    let whole = 0;
    while (moved < count) {
      const chunk = this.#chunks[whole] as Uint8Array;
      const length = Math.min(count - moved, chunk.length - this.#sentOfFirst);
      target.set(chunk.subarray(this.#sentOfFirst, this.#sentOfFirst + length), at + moved);
      moved += length;
      this.#sentOfFirst += length;
      if (this.#sentOfFirst === chunk.length) {
        this.#sentOfFirst = 0;
        whole++;
      }
    }
    this.#chunks.splice(0, whole);
    this.queuedBytes -= count;
  }

  /** Drops the queued bytes. */
  dropQueued(): void {
    this.#chunks = NO_CHUNKS;
    this.#sentOfFirst = 0;
    this.queuedBytes = 0;
  }
}
