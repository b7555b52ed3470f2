/**
 * A connection to one member, like that of any gRPC client. It returns the complete answer: the response, the status
 * with its details, headers and trailers.
 */

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type ChannelCredentials, Client, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { decodeStatusDetails, type StatusDetails, statusDetailsTrailer } from "@quoin/proto";
import type { Operation } from "./operations.ts";
import { Stream } from "./stream.ts";

export interface Answer<Response> {
  /** Undefined if the call failed. */
  readonly response: Response | undefined;
  /** Name of the status, including `OK`. */
  readonly code: string;
  readonly message: string;
  /** Undefined if the status has none. */
  readonly details: StatusDetails | undefined;
  readonly headers: Metadata;
  readonly trailers: Metadata;
}

export interface CallOptions {
  /** Replaces metadata of the call. Null removes an entry, a list repeats it. */
  readonly metadata?: Readonly<Record<string, string | readonly string[] | null>>;
  /** Milliseconds until the deadline; without it the call has none. */
  readonly timeoutMs?: number;
}

/** A call that can be cancelled. */
export interface Pending<Response> {
  readonly answer: Promise<Answer<Response>>;
  cancel(): void;
}

/** Statuses after which a call may be retried with the same request id, whether it was executed or not. */
const PASSING_CODES: ReadonlySet<string> = new Set(["UNAVAILABLE", "DEADLINE_EXCEEDED"]);
const RETRY_LIMIT_MS = 30_000;
const RETRY_DELAY_MS = 100;

/** A request as fields, or as bytes that no client would send. */
type Sent<Request> = Partial<Request> | Buffer;

export class Connection {
  /** host:port */
  readonly endpoint: string;
  readonly #client: Client;
  readonly #token: string;

  constructor(endpoint: string, credentials: ChannelCredentials, token: string) {
    this.endpoint = endpoint;
    this.#token = token;
    this.#client = new Client(endpoint, credentials, {
      // Otherwise all connections of a process to one endpoint would be shared, and could not be closed separately.
      "grpc.use_local_subchannel_pool": 1,
    });
  }

  /**
   * Resolves for any status. Every call has a new request id unless the options give one. A call without a deadline is
   * retried, with the same id, while there is no leader or it takes too long: the contract allows that, and no table is
   * about elections.
   */
  async call<Request, Response>(
    operation: Operation<Request, Response>,
    fields: Sent<Request>,
    options: CallOptions = {},
  ): Promise<Answer<Response>> {
    const same = { ...options, metadata: { "request-id": randomUUID(), ...options.metadata } };
    const giveUpMs = performance.now() + RETRY_LIMIT_MS;
    for (;;) {
      const answer = await this.begin(operation, fields, same).answer;
      const isPassing = PASSING_CODES.has(answer.code) && options.timeoutMs === undefined;
      if (!isPassing || performance.now() > giveUpMs) {
        return answer;
      }
      await sleep(RETRY_DELAY_MS);
    }
  }

  /** Makes a call without retries, which can be cancelled. */
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
    return new Stream(call, ({ code, details, metadata }) =>
      answerOf<never>(code, details, undefined, new Metadata(), metadata),
    );
  }

  close(): void {
    this.#client.close();
  }

  #metadata({ metadata: replaced = {} }: CallOptions): Metadata {
    const usual = { authorization: `Bearer ${this.#token}`, "api-version": "v1", "request-id": randomUUID() };
    const metadata = new Metadata();
    for (const [name, value] of Object.entries<string | readonly string[] | null>({ ...usual, ...replaced })) {
      for (const single of value === null ? [] : [value].flat()) {
        metadata.add(name, single);
      }
    }
    return metadata;
  }
}

/** The bytes of a request. */
export function bytesOf<Request, Response>(
  { method, request }: Operation<Request, Response>,
  fields: Sent<Request>,
): Buffer {
  return Buffer.isBuffer(fields) ? fields : method.requestSerialize(request(fields));
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
  const [encoded] = trailers.get(statusDetailsTrailer);
  return {
    response,
    code: status[code],
    message,
    details: encoded === undefined ? undefined : decodeStatusDetails(Buffer.from(encoded)),
    headers,
    trailers,
  };
}
