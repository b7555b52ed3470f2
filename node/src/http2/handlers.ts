/**
 * The callbacks of a connection. A handler is never called after `onClosed`, and never for a stream after its
 * `onReset`. Handlers may call any method of the connection. They must not throw: an exception passes through the
 * connection and makes it unusable.
 */
import type { Closure } from "./closure.ts";
import type { ServerStream } from "./server-stream.ts";

export interface ConnectionHandler {
  /**
   * Called when a request begins. If the request is complete, `onEnd` of the returned handler is called at once.
   *
   * @param fields name, value, name, value, …: latin-1 texts, checked by the rules of RFC 9113 §8
   * @returns the handler of this stream
   */
  onRequest(stream: ServerStream, fields: readonly string[]): StreamHandler;
  /** Called once when the connection has ended, or ends after its last bytes; after all `onReset` calls. */
  onClosed(closure: Closure): void;
}

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
  /** Called when the stream takes bytes again after `write` has returned "full". */
  onWritable(stream: ServerStream): void;
  /** Called when the answer is complete, including its queued bytes. It is the last call for this stream. */
  onAnswered?(stream: ServerStream): void;
}

/** The handler of a stream before `onRequest` has returned. */
export const NO_STREAM_HANDLER: StreamHandler = {
  onData: () => undefined,
  onEnd: () => undefined,
  onReset: () => undefined,
  onWritable: () => undefined,
};
