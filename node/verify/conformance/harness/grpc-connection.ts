/** A connection by gRPC. */

import { type ChannelCredentials, Client, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { decodeStatusDetails, STATUS_DETAILS_TRAILER } from "@quoin/proto";
import type { Answer } from "./answer.ts";
import { bytesOf, type CallOptions, Connection, type Pending, type Sent } from "./connection.ts";
import type { Operation } from "./operations.ts";
import { Stream } from "./stream.ts";

export class GrpcConnection extends Connection {
  readonly protocol = "grpc";
  readonly #client: Client;

  constructor(endpoint: string, credentials: ChannelCredentials, token: string) {
    super(endpoint, token);
    this.#client = new Client(endpoint, credentials, {
      // Otherwise all connections of a process to one endpoint would be shared, and could not be closed separately.
      "grpc.use_local_subchannel_pool": 1,
    });
  }

  begin<Request, Response>(
    operation: Operation<Request, Response>,
    fields: Sent<Request>,
    options: CallOptions = {},
  ): Pending<Response> {
    const { method } = operation;
    let headers = new Metadata();
    let response: Response | undefined;
    const call = this.#client.makeUnaryRequest(
      method.path,
      (bytes: Buffer) => bytes,
      method.responseDeserialize,
      bytesOf(operation, fields),
      this.#metadata(options),
      deadlineOf(options),
      (_error: ServiceError | null, received?: Response) => {
        response = received;
      },
    );
    call.on("metadata", (received) => {
      headers = received;
    });
    const answer = new Promise<Answer<Response>>((resolve) => {
      // "status" is the last event of a call, after the callback.
      call.on("status", ({ code, details, metadata }) => {
        resolve(answerOf(code, details, response, headers, metadata));
      });
    });
    return { answer, cancel: () => call.cancel() };
  }

  stream<Request, Response>(
    operation: Operation<Request, Response>,
    fields: Sent<Request>,
    options: CallOptions = {},
  ): Stream<Response> {
    const { method } = operation;
    const call = this.#client.makeServerStreamRequest(
      method.path,
      (bytes: Buffer) => bytes,
      method.responseDeserialize,
      bytesOf(operation, fields),
      this.#metadata(options),
      deadlineOf(options),
    );
    const stream = new Stream<Response>(() => call.cancel());
    call.on("data", (message: Response) => stream.receive(message));
    // Every failed stream has an error, with no more information than its status.
    call.on("error", () => undefined);
    call.on("status", ({ code, details, metadata }) => {
      stream.end(answerOf<never>(code, details, undefined, new Metadata(), metadata));
    });
    return stream;
  }

  close(): void {
    this.#client.close();
  }

  #metadata(options: CallOptions): Metadata {
    const metadata = new Metadata();
    for (const [name, values] of this.metadataOf(options)) {
      for (const value of values) {
        metadata.add(name, value);
      }
    }
    return metadata;
  }
}

function deadlineOf({ timeoutMs }: CallOptions): { deadline?: number } {
  return timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };
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
    details: encoded === undefined ? undefined : decodeStatusDetails(Buffer.from(encoded)),
    headers,
    trailers,
  };
}
