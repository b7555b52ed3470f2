/**
 * gRPC calls with a stream of answers, over one HTTP/2 connection.
 *
 * One process reads a thousand watchers, and shares the machine with the measured system. So this does without the
 * layers of a gRPC client: it passes messages on as bytes, in the turn in which they arrive.
 */

import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from "node:http2";
import { unescape as percentDecoded } from "node:querystring";
import { MessageSplitter, withPrefix } from "./message-splitter.ts";

export interface StreamListener {
  /** Any error that it raises ends the stream. */
  onMessage(message: Buffer): void;
  /** The stream is over, ended by either side; not called after `close`. */
  onEnd(error: Error): void;
}

/** Sends another message over a stream whose request is open. */
export type SendMessage = (message: Uint8Array) => void;

/** Space for messages in flight, so that no server waits for the benchmark's permission to send more. */
const STREAM_WINDOW_BYTES = 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 64 * 1024 * 1024;

export class GrpcStreams {
  readonly #session: ClientHttp2Session;
  #isClosed = false;

  /** @param endpoint host:port, in plain text. */
  constructor(endpoint: string) {
    this.#session = connect(`http://${endpoint}`, {
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
    });
    this.#session.once("connect", () => this.#session.setLocalWindowSize(CONNECTION_WINDOW_BYTES));
    // Streams notice the end of their connection themselves.
    this.#session.on("error", () => undefined);
  }

  /**
   * Calls a method with one message.
   *
   * @param keepsAsking leaves the request open, for methods that end the stream when the client has no more requests.
   * @returns how to send more messages, if the request is open.
   */
  open(
    path: string,
    metadata: Readonly<Record<string, string>>,
    message: Uint8Array,
    keepsAsking: boolean,
    listener: StreamListener,
  ): SendMessage {
    const headers: OutgoingHttpHeaders = {
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...metadata,
    };
    const stream = this.#session.request(headers);
    this.#read(stream, path, listener);
    if (keepsAsking) {
      stream.write(withPrefix(message));
    } else {
      stream.end(withPrefix(message));
    }
    return (next) => stream.write(withPrefix(next));
  }

  close(): void {
    this.#isClosed = true;
    this.#session.destroy();
  }

  #read(stream: ClientHttp2Stream, path: string, { onMessage, onEnd }: StreamListener): void {
    const splitter = new MessageSplitter();
    let reason = "no reason was given";
    const take = (headers: Readonly<Record<string, unknown>>): void => {
      if (headers["grpc-status"] !== undefined) {
        // It is percent-encoded, possibly in an invalid way.
        reason = `status ${String(headers["grpc-status"])}, ${percentDecoded(String(headers["grpc-message"] ?? ""))}`;
      }
    };
    stream.on("response", take);
    stream.on("trailers", take);
    stream.on("error", (error: Error) => {
      reason = error.message;
    });
    stream.on("close", () => {
      if (!this.#isClosed) {
        onEnd(new Error(`${path} ended: ${reason}`));
      }
    });
    stream.on("data", (piece: Buffer) => {
      try {
        for (const message of splitter.push(piece)) {
          onMessage(message);
        }
      } catch (error) {
        stream.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }
}
