/** An HTTP server with scripted answers that records its requests. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A complete request. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** An answer of JSON. */
export type StatusAndBody = readonly [status: number, body: object];

type HttpScript = (response: ServerResponse, request: ReceivedRequest, count: number) => void;

/** A member with scripted answers over HTTP. */
export class ScriptedHttpMember {
  readonly requests: ReceivedRequest[] = [];
  readonly #script: HttpScript;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  private constructor(script: HttpScript) {
    this.#script = script;
  }

  /** @param port to listen on; 0 = any free one. */
  static async start(script: HttpScript, port = 0): Promise<ScriptedHttpMember> {
    const member = new ScriptedHttpMember(script);
    await new Promise<void>((resolve) => member.#server.listen(port, "127.0.0.1", resolve));
    return member;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Stops at once, and breaks all connections. */
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const received = { method: request.method ?? "", path: request.url ?? "", headers: request.headers, body };
    this.requests.push(received);
    this.#script(response, received, this.requests.length);
  }
}

/** Answers requests with these in turn, and then always with the last one. The list may change meanwhile. */
export function answerInTurn(answers: StatusAndBody[]): HttpScript {
  return (response) => {
    const [status, body] = (answers.length > 1 ? answers.shift() : answers[0]) ?? [500, {}];
    answerJson(response, status, body);
  };
}

/** Sends an answer of JSON. */
export function answerJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
