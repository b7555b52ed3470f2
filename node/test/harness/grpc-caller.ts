/**
 * Calls a gRPC server as a client does, and shows everything that came back: the response, the status, its details, the
 * headers and the trailers. A request may also be bytes, which no real client would send.
 */

import { randomUUID } from "node:crypto";
import { Client, credentials, Metadata, type MethodDefinition, status } from "@grpc/grpc-js";
import { decodeStatusDetails, STATUS_DETAILS_TRAILER, type StatusDetails } from "@quoin/proto";
import { GrpcStream } from "./grpc-stream.ts";

export interface Answer<Response> {
  /** Undefined if the call failed. */
  readonly response: Response | undefined;
  /** Name of the status, `OK` included. */
  readonly code: string;
  readonly message: string;
  /** The trailer `error-reason`, "" without. */
  readonly reason: string;
  /** Undefined if the status has none. */
  readonly details: StatusDetails | undefined;
  readonly headers: Metadata;
  readonly trailers: Metadata;
}

export interface CallOptions {
  /** Replaces the metadata of the caller for this call; null removes one, a list repeats it. */
  readonly metadata?: ReadonlyMap<string, string | readonly string[] | null>;
  /** Milliseconds until the call's deadline. */
  readonly timeoutMs?: number;
}

/** A method with the codec of its requests. */
interface WithCodec {
  readonly requestCodec: { fromPartial(fields: never): unknown };
}

/** The fields of a request; those that are left out have their defaults. */
export type FieldsOf<Method extends WithCodec> = Parameters<Method["requestCodec"]["fromPartial"]>[0];

export class GrpcCaller {
  readonly #client: Client;
  /** Metadata of every call; without a `request-id` each gets a new one. */
  readonly #metadata: ReadonlyMap<string, string>;

  /** @param at a port of this machine's loopback, or `host:port`. */
  constructor(at: number | string, metadata: ReadonlyMap<string, string>) {
    const endpoint = typeof at === "number" ? `127.0.0.1:${at}` : at;
    this.#client = new Client(endpoint, credentials.createInsecure(), {
      // Callers of one process would share a connection otherwise, and a spec could not close its own.
      "grpc.use_local_subchannel_pool": 1,
    });
    this.#metadata = metadata;
  }

  /** Resolves whatever the status is. */
  call<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request | Buffer,
    options: CallOptions = {},
  ): Promise<Answer<Response>> {
    return new Promise((resolve) => {
      let initial = new Metadata();
      let response: Response | undefined;
      const call = this.#client.makeUnaryRequest(
        method.path,
        serializerOf(method),
        method.responseDeserialize,
        request,
        this.#headers(options),
        deadlineOf(options),
        (_error, received) => {
          response = received;
        },
      );
      call.on("metadata", (received) => {
        initial = received;
      });
      // The last event of a call, after the callback.
      call.on("status", ({ code, details, metadata: trailers }) => {
        resolve(answerOf(code, details, response, initial, trailers));
      });
    });
  }

  /** The same for a request of these fields. */
  ask<Request, Response, Method extends WithCodec>(
    method: MethodDefinition<Request, Response> & Method,
    fields: FieldsOf<Method>,
    options: CallOptions = {},
  ): Promise<Answer<Response>> {
    return this.call(method, method.requestCodec.fromPartial(fields as never) as Request, options);
  }

  /** Asks for a stream. */
  stream<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request | Buffer,
    options: CallOptions = {},
  ): GrpcStream<Response, Answer<never>> {
    const call = this.#client.makeServerStreamRequest(
      method.path,
      serializerOf(method),
      method.responseDeserialize,
      request,
      this.#headers(options),
      deadlineOf(options),
    );
    return new GrpcStream(call, ({ code, details, metadata }) =>
      answerOf<never>(code, details, undefined, new Metadata(), metadata),
    );
  }

  close(): void {
    this.#client.close();
  }

  #headers(options: CallOptions): Metadata {
    const headers = new Map<string, string | readonly string[] | null>([["request-id", randomUUID()]]);
    for (const [name, value] of [...this.#metadata, ...(options.metadata ?? [])]) {
      headers.set(name, value);
    }
    const metadata = new Metadata();
    for (const [name, value] of headers) {
      for (const single of value === null ? [] : [value].flat()) {
        metadata.add(name, single);
      }
    }
    return metadata;
  }
}

function deadlineOf({ timeoutMs }: CallOptions): { deadline?: number } {
  return timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };
}

function serializerOf<Request, Response>(
  method: MethodDefinition<Request, Response>,
): (value: Request | Buffer) => Buffer {
  return (value) => (Buffer.isBuffer(value) ? value : method.requestSerialize(value as Request));
}

function answerOf<Response>(
  code: status,
  message: string,
  response: Response | undefined,
  headers: Metadata,
  trailers: Metadata,
): Answer<Response> {
  const [encoded] = trailers.get(STATUS_DETAILS_TRAILER);
  return {
    response,
    code: status[code],
    message,
    reason: String(trailers.get("error-reason")[0] ?? ""),
    details: encoded === undefined ? undefined : decodeStatusDetails(Buffer.from(encoded)),
    headers,
    trailers,
  };
}
