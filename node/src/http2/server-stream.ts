/**
 * A stream: one request and its answer (RFC 9113 §5.1). A user names it in calls of its connection, and may read `id` and
 * `isOpen`; all else belongs to the connection.
 *
 * What of the answer cannot go yet waits here, as references to the user's bytes.
 */
import { NO_STREAM_HANDLER, type StreamHandler } from "./handlers.ts";
import { ReceiveWindow } from "./receive-window.ts";

const NO_CHUNKS: Uint8Array[] = [];

export class ServerStream {
  readonly id: number;
  handler: StreamHandler = NO_STREAM_HANDLER;
  /** Whether request or answer are incomplete, and no side has reset the stream. */
  isOpen = true;
  /** Whether the client may send more of the request. */
  isRequestOpen = true;
  /** Whether the first fields of the answer were sent. */
  hasResponded = false;
  /** Whether the user has ended the answer; its rest may still wait. */
  isEnding = false;
  /** The trailers of an answer that is ending. */
  trailers: readonly string[] = [];
  /** Bytes of the request's body as its content-length declares them, and those that were received. */
  readonly declaredBytes: number;
  receivedBytes = 0;
  /** Bytes that the handler has and that `consume` was not called for. */
  unreadBytes = 0;
  readonly receiveWindow: ReceiveWindow;
  /** Bytes that the client lets the server send on this stream: below 0 after it has lowered its initial window. */
  sendWindow: number;
  /** The bytes of the answer that wait. */
  queuedBytes = 0;
  /** The neighbours in the queue of streams that could send. */
  previous: ServerStream | null = null;
  next: ServerStream | null = null;
  isQueued = false;
  #chunks = NO_CHUNKS;
  /** What was sent of the first chunk. */
  #sentOfFirst = 0;

  constructor(id: number, declaredBytes: number, receiveWindow: number, sendWindow: number) {
    this.id = id;
    this.declaredBytes = declaredBytes;
    this.receiveWindow = new ReceiveWindow(receiveWindow);
    this.sendWindow = sendWindow;
  }

  /** Lets bytes wait. They must not change. */
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

  /** Moves so many of the bytes that wait to `target`, at most `queuedBytes`. */
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

  /** Lets go of the bytes that wait. */
  dropQueued(): void {
    this.#chunks = NO_CHUNKS;
    this.#sentOfFirst = 0;
    this.queuedBytes = 0;
  }
}
