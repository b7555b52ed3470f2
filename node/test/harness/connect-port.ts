/** The services of GrpcPorts on an HTTP port of 127.0.0.1, by the Connect protocol. */

import { once } from "node:events";
import type { IncomingMessage, RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import {
  closeHttpServer,
  createHttpServer,
  type HttpTimeouts,
  type RequestObserver,
} from "../../src/api/http/index.ts";
import type { GrpcPorts } from "./grpc-ports.ts";

/** What a test sends with a call, beside the usual headers. Null removes a header. */
export interface ConnectRequest {
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Sent unchanged; anything else than bytes or text is sent as JSON. */
  readonly body?: unknown;
}

export interface ConnectAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** The body, if it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any method, of which a test reads what it expects.
  readonly json: any;
}

export class ConnectPort {
  readonly origin: string;
  /** All requests, as the server has them. */
  readonly requests: readonly IncomingMessage[];
  readonly #token: string;
  readonly #close: () => Promise<void>;

  private constructor(origin: string, requests: readonly IncomingMessage[], token: string, close: () => Promise<void>) {
    this.origin = origin;
    this.requests = requests;
    this.#token = token;
    this.#close = close;
  }

  /**
   * @param token of the usual Authorization header.
   * @param observer observes the requests, as it does in a member.
   */
  static async open(
    ports: GrpcPorts,
    token: string,
    timeouts?: HttpTimeouts,
    observer: RequestObserver | null = null,
  ): Promise<ConnectPort> {
    const { httpCalls } = ports.publicServer;
    const requests: IncomingMessage[] = [];
    const application: RequestListener = (request, response) => {
      requests.push(request);
      if (!httpCalls.serve(request, response)) {
        response.writeHead(404).end();
      }
    };
    const server = createHttpServer(observer?.observed(application) ?? application, timeouts && { timeouts });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    return new ConnectPort(`http://127.0.0.1:${port}`, requests, token, () => closeHttpServer(server, 0));
  }

  /** Calls a method as curl does, such as `KeyValueService/GetKey`, with JSON unless the headers say otherwise. */
  async call(method: string, { headers = {}, body = {} }: ConnectRequest = {}): Promise<ConnectAnswer> {
    const usual = { authorization: `Bearer ${this.#token}`, "content-type": "application/json" };
    const given = Object.entries<string | null>({ ...usual, ...headers });
    const text = typeof body === "string" ? body : JSON.stringify(body);
    // Bytes, because a text would set a content type.
    const sent = body instanceof Uint8Array ? body : Buffer.from(text);
    const response = await fetch(`${this.origin}/coordination.v1.${method}`, {
      method: "POST",
      headers: given.filter((entry): entry is [string, string] => entry[1] !== null),
      body: sent as Uint8Array<ArrayBuffer>,
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isJson = response.headers.get("content-type") === "application/json";
    const json = isJson ? JSON.parse(bytes.toString("utf8")) : undefined;
    return { status: response.status, headers: response.headers, bytes, json };
  }

  close(): Promise<void> {
    return this.#close();
  }
}
