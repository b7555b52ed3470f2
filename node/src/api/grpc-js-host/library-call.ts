/**
 * A call of the gRPC library. It stands between the library and the method: what the library hands on passes through here,
 * and so does what it sends to the client, also where it answers by itself.
 */

import { constants, type ServerHttp2Stream } from "node:http2";
import {
  type Metadata,
  type ServerInterceptingCall,
  type ServerWritableStream,
  type StatusObject,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { invariant } from "../../raft/index.ts";
import type { Replayed } from "../../state/index.ts";
import {
  type CallMethod,
  type CallPort,
  type CallStatus,
  type ClientConnection,
  IncomingCall,
} from "../calls/index.ts";
import { metadataOf, replayedMetadata } from "./library-metadata.ts";

type Listener = Parameters<ServerInterceptingCall["start"]>[0];
type PartialStatus = Parameters<ServerInterceptingCall["sendStatus"]>[0];

const ignore = (): void => undefined;

/** The HTTP/2 stream of a call, as the library hands the call to its interceptors. */
export function streamOf(call: ServerInterceptingCall): ServerHttp2Stream {
  const { stream } = call as unknown as { readonly stream?: ServerHttp2Stream };
  invariant(stream !== undefined, "the gRPC library keeps the stream of a call in the call");
  return stream;
}

export class LibraryCall extends IncomingCall {
  readonly #call: ServerInterceptingCall;
  readonly #stream: ServerHttp2Stream;
  readonly #onHeaders: (metadata: Metadata, call: LibraryCall) => void;
  #metadata: Metadata | null = null;
  #listener: Listener | null = null;
  /** How the library takes the answer of a unary call, and that of a stream, once it has called the handler. */
  #respond: sendUnaryData<unknown> | null = null;
  #answers: ServerWritableStream<Buffer, Buffer> | null = null;

  /** @param onHeaders is called when the library tells the metadata of the call. */
  constructor(
    port: CallPort,
    method: CallMethod,
    connection: ClientConnection,
    call: ServerInterceptingCall,
    onHeaders: (metadata: Metadata, call: LibraryCall) => void,
  ) {
    const stream = streamOf(call);
    super(port, method, connection, stream.id ?? 0);
    this.#call = call;
    this.#stream = stream;
    this.#onHeaders = onHeaders;
    const start = call.start.bind(call);
    // The call itself: a wrapper around it would cost every message another round of callbacks.
    call.start = (listener) => {
      this.#listener = listener;
      start(this.#admitted(listener));
    };
    const sendStatus = call.sendStatus.bind(call);
    call.sendStatus = (answer) => this.#onStatus(answer, sendStatus);
    // The library has paused the stream: this does not make it flow.
    stream.on("data", (bytes: Buffer) => this.receiveBytes(bytes.length));
    stream.once("close", () => {
      this.leave();
      // Sessions keep streams in a Map, and so in memory until the next full collection: this one lets go of the call.
      stream.removeAllListeners().on("error", ignore);
    });
  }

  get deadline(): number {
    return Number(this.#call.getDeadline());
  }

  values(name: string): readonly string[] {
    return this.#metadata === null ? [] : this.#metadata.get(name).map(String);
  }

  /** The library has called the handler of a unary method. */
  respondBy(respond: sendUnaryData<unknown>): this {
    this.#respond = respond;
    return this;
  }

  /** The library has called the handler of a method that answers with a stream. */
  streamBy(answers: ServerWritableStream<Buffer, Buffer>): this {
    this.#answers = answers;
    return this;
  }

  answer(response: unknown, replayed: Replayed): void {
    const metadata = replayedMetadata(replayed);
    if (metadata !== null) {
      this.#call.sendMetadata(metadata);
    }
    this.#respond?.(null, response);
  }

  send(message: Uint8Array, taken: () => void): void {
    const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
    this.#answers?.write(bytes, (error: Error | null | undefined) => {
      if (!error) {
        taken();
      }
    });
  }

  end(answer: CallStatus): void {
    const object: StatusObject = { code: answer.code, details: answer.message, metadata: metadataOf(answer.trailers) };
    if (this.#answers === null) {
      this.#call.sendStatus(object);
    } else {
      // Behind what was written.
      this.#answers.emit("error", object);
    }
  }

  protected get isGone(): boolean {
    return this.#stream.destroyed;
  }

  protected pass(): void {
    this.#listener?.onReceiveMetadata(this.#metadata as Metadata);
  }

  #admitted(listener: Listener): Listener {
    return {
      onReceiveMetadata: (metadata) => {
        this.#metadata = metadata;
        this.#onHeaders(metadata, this);
        this.receiveHeaders();
      },
      onReceiveMessage: (message) => {
        if (this.receiveMessage()) {
          listener.onReceiveMessage(message);
        }
      },
      onReceiveHalfClose: () => {
        if (this.receiveEnd()) {
          listener.onReceiveHalfClose();
        }
      },
      // The library says so of every call that is over.
      onCancel: () => {
        this.finish();
        listener.onCancel();
      },
    };
  }

  #onStatus(answer: PartialStatus, send: (status: PartialStatus) => void): void {
    // The library ends a call at the deadline of the client by itself, with a code and nothing else.
    const isBare = answer.code === status.DEADLINE_EXCEEDED && (answer.metadata ?? null) === null;
    if (isBare) {
      this.end(this.missedDeadline());
      return;
    }
    this.countEnd(answer.code ?? status.UNKNOWN, String(answer.metadata?.get("error-reason")[0] ?? ""));
    const isOnlyAnswer = !this.#stream.headersSent;
    send(answer);
    if (isOnlyAnswer && !this.isComplete) {
      // Otherwise the stream would last until the client has sent the rest. The answer leaves at the end of this turn,
      // and a reset before that would take its place.
      setImmediate(() => this.#stream.close(constants.NGHTTP2_NO_ERROR));
    }
  }
}
