/**
 * A call of the gRPC library. It is between the library and the method: everything that the library receives or sends
 * passes through it, also answers that the library itself makes.
 */

import { constants, type ServerHttp2Stream } from "node:http2";
import {
  Metadata,
  type ServerInterceptingCall,
  type ServerWritableStream,
  type StatusObject,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { invariant } from "../../primitives/index.ts";
import type { Replayed } from "../../state/index.ts";
import {
  type CallMethod,
  type CallPort,
  type CallStatus,
  type ClientConnection,
  IncomingCall,
  malformedTimeout,
  replayedField,
} from "../calls/index.ts";

type Listener = Parameters<ServerInterceptingCall["start"]>[0];
type PartialStatus = Parameters<ServerInterceptingCall["sendStatus"]>[0];

/** How the library's answer to a grpc-timeout begins that it cannot read. */
const MALFORMED_TIMEOUT = "Invalid grpc-timeout value";
const ignore = (): void => undefined;

/** Returns the HTTP/2 stream of a call that the library passes to its interceptors. */
export function streamOf(call: ServerInterceptingCall): ServerHttp2Stream {
  const { stream } = call as unknown as { readonly stream?: ServerHttp2Stream };
  invariant(stream !== undefined, "the gRPC library keeps the stream of a call in the call");
  return stream;
}

export class LibraryCall extends IncomingCall {
  readonly #call: ServerInterceptingCall;
  readonly #stream: ServerHttp2Stream;
  readonly #onHeaders: (metadata: Metadata, call: LibraryCall) => void;
  /** Bytes of the request that have arrived. */
  #receivedBytes = 0;
  #metadata: Metadata | null = null;
  #listener: Listener | null = null;
  /** The library's functions for the answer of a unary call and of a stream; set when it has called the handler. */
  #respond: sendUnaryData<unknown> | null = null;
  #answers: ServerWritableStream<Buffer, Buffer> | null = null;

  /** @param onHeaders called when the library passes on the metadata of the call. */
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
    // Changes the call itself: a wrapper would cost every message another round of callbacks.
    call.start = (listener) => {
      this.#listener = listener;
      start(this.#admitted(listener));
    };
    const sendStatus = call.sendStatus.bind(call);
    call.sendStatus = (answer) => this.#onStatus(answer, sendStatus);
    // The library has paused the stream; this listener does not start it.
    stream.on("data", (bytes: Buffer) => {
      this.#receivedBytes += bytes.length;
      this.receiveBytes(bytes.length);
    });
    stream.once("close", () => {
      this.close();
      // Sessions keep streams in a Map, and so in memory until the next full collection. Free the call of this one.
      stream.removeAllListeners().on("error", ignore);
    });
  }

  get deadline(): number {
    return Number(this.#call.getDeadline());
  }

  values(name: string): readonly string[] {
    return this.#metadata === null ? [] : this.#metadata.get(name).map(String);
  }

  /** Called when the library has called the handler of a unary method. */
  respondBy(respond: sendUnaryData<unknown>): this {
    this.#respond = respond;
    return this;
  }

  /** Called when the library has called the handler of a method that answers with a stream. */
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
      // After the written messages.
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
        this.#receiveInflated(message);
        if (this.receiveMessage()) {
          listener.onReceiveMessage(message);
        }
      },
      onReceiveHalfClose: () => {
        if (this.receiveEnd()) {
          listener.onReceiveHalfClose();
        }
      },
      // The library calls this for every call that is over.
      onCancel: () => {
        this.finish();
        listener.onCancel();
      },
    };
  }

  /** Counts what a message has gained by its decompression; one that was not compressed has fewer bytes than arrived. */
  #receiveInflated(message: unknown): void {
    const more = message instanceof Uint8Array ? message.length - this.#receivedBytes : 0;
    // The library also decompresses for a client that has gone, whose bytes are given back already.
    if (more > 0 && !this.isGone) {
      this.receiveBytes(more);
    }
  }

  #onStatus(answer: PartialStatus, send: (status: PartialStatus) => void): void {
    // At the client's deadline the library itself ends the call, with only a code.
    const isBare = answer.code === status.DEADLINE_EXCEEDED && (answer.metadata ?? null) === null;
    if (isBare) {
      this.end(this.missedDeadline());
      return;
    }
    if (answer.code === status.INTERNAL && answer.details?.startsWith(MALFORMED_TIMEOUT)) {
      this.end(malformedTimeout());
      return;
    }
    this.countEnd(answer.code ?? status.UNKNOWN, String(answer.metadata?.get("error-reason")[0] ?? ""));
    const isOnlyAnswer = !this.#stream.headersSent;
    send(answer);
    if (isOnlyAnswer && !this.isComplete) {
      // Otherwise the stream would last until the client has sent the rest. The answer leaves at the end of this turn;
      // a reset before that would replace it.
      setImmediate(() => this.#stream.close(constants.NGHTTP2_NO_ERROR));
    }
  }
}

/** Makes metadata from fields: name, value, name, value, …; values of names that end with -bin are in base64. */
function metadataOf(fields: readonly string[]): Metadata {
  const metadata = new Metadata();
  for (let at = 0; at < fields.length; at += 2) {
    const [name, value] = fields.slice(at, at + 2) as [string, string];
    metadata.set(name, name.endsWith("-bin") ? Buffer.from(value, "base64") : value);
  }
  return metadata;
}

/** Returns metadata that mark the answer of an earlier attempt; null for any other answer. */
function replayedMetadata(replayed: Replayed): Metadata | null {
  return replayed === "no" ? null : metadataOf(replayedField(replayed));
}
