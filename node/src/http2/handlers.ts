/**
 * What a connection tells its user. A handler is never called after `onClosed`, and never for a stream after its `onReset`. Handlers may call any method of the connection. They must not
 * throw: what they throw goes through the connection, which is of no use after that.
 */
import type { Closure } from "./closure.ts";
import type { ServerStream } from "./server-stream.ts";

export interface ConnectionHandler {
  /**
   * A request begins. If the request is complete, `onEnd` of the returned handler follows at once.
   *
   * @param fields name, value, name, value, …: latin-1 texts, checked as RFC 9113 §8 has it
   * @returns what is called for this stream from now on
   */
  onRequest(stream: ServerStream, fields: readonly string[]): StreamHandler;
  /** The connection has ended, or ends as soon as its last bytes are written. Called once, after all `onReset`. */
  onClosed(closure: Closure): void;
}

export interface StreamHandler {
  /**
   * The next bytes of the request: those from `from` to `to`, in memory that is used again after the call. Call `consume`
   * for them, now or later: the client may send only so many more.
   */
  onData(stream: ServerStream, bytes: Uint8Array, from: number, to: number): void;
  /** The request is complete. `trailers` are as the fields of a request; most have none. */
  onEnd(stream: ServerStream, trailers: readonly string[]): void;
  /** The stream ended before its answer was complete: what the handler still does for it is lost. */
  onReset(stream: ServerStream, code: number): void;
  /** There is room again after `write` has returned "full". */
  onWritable(stream: ServerStream): void;
  /** The answer is complete, with what waited of it: nothing is called for this stream any more. */
  onAnswered?(stream: ServerStream): void;
}

/** For a stream whose handler is not known yet. */
export const NO_STREAM_HANDLER: StreamHandler = {
  onData: () => undefined,
  onEnd: () => undefined,
  onReset: () => undefined,
  onWritable: () => undefined,
};
