/**
 * A connection to one member, like that of any client. It returns the complete answer: the response, the status with
 * its details, headers and trailers. Its protocol is gRPC, or Connect with JSON; the entries need not know which.
 */

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "./answer.ts";
import type { Operation } from "./operations.ts";
import type { Stream } from "./stream.ts";

/** How the operations are called. */
export const PROTOCOLS = ["grpc", "connect"] as const;
export type Protocol = (typeof PROTOCOLS)[number];

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
export type Sent<Request> = Partial<Request> | Buffer;

export abstract class Connection {
  /** host:port of the member's gRPC port, by whichever protocol. */
  readonly endpoint: string;
  readonly #token: string;

  constructor(endpoint: string, token: string) {
    this.endpoint = endpoint;
    this.#token = token;
  }

  abstract readonly protocol: Protocol;

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
  abstract begin<Request, Response>(
    operation: Operation<Request, Response>,
    fields: Sent<Request>,
    options?: CallOptions,
  ): Pending<Response>;

  abstract stream<Request, Response>(
    operation: Operation<Request, Response>,
    fields: Sent<Request>,
    options?: CallOptions,
  ): Stream<Response>;

  abstract close(): void;

  /** The metadata of a call: name and values. */
  protected metadataOf({ metadata: replaced = {} }: CallOptions): readonly (readonly [string, readonly string[]])[] {
    const usual = { authorization: `Bearer ${this.#token}`, "api-version": "v1", "request-id": randomUUID() };
    return Object.entries<string | readonly string[] | null>({ ...usual, ...replaced }).map(([name, value]) => [
      name,
      value === null ? [] : [value].flat(),
    ]);
  }
}

/** The bytes of a request. */
export function bytesOf<Request, Response>(
  { method, request }: Operation<Request, Response>,
  fields: Sent<Request>,
): Buffer {
  return Buffer.isBuffer(fields) ? fields : method.requestSerialize(request(fields));
}
