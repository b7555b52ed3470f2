/**
 * The callbacks of a connection and of its streams. A handler is never called after `onClosed`, and never for a stream after its
 * `onReset`. Handlers may call any method of the connection. They must not throw: an exception passes through the
 * connection and makes it unusable.
 */
import type { Closure } from "./closure.ts";
import type { ServerStream, StreamHandler } from "./server-stream.ts";

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
