/** The benchmark's requests to a Quoin member about event logs: appends of single events over gRPC, all others over HTTP. */

import { Agent, type IncomingMessage, request } from "node:http";
import { AppendEventRequest, serviceDefinitions } from "@quoin/proto";
import type { EventLogs } from "./connection.ts";
import type { Ask } from "./unary-calls.ts";

const { EventLogService } = serviceDefinitions;

const OK = 200;
const CREATED = 201;
const EVENT_ID = /^id: (\d+)$/gm;

export class QuoinEventLogs implements EventLogs {
  readonly #ask: Ask;
  readonly #url: string;
  readonly #token: string;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #closing = new AbortController();

  /** @param url of the HTTP interface of the member. */
  constructor(ask: Ask, url: string, token: string) {
    this.#ask = ask;
    this.#url = url;
    this.#token = token;
  }

  async create(name: string): Promise<string> {
    const headers = { "content-type": "application/json" };
    const log = await this.#answer("POST", "/logs", headers, Buffer.from(JSON.stringify({ name })));
    return log.log_id as string;
  }

  async append(logId: string, payload: Buffer, key: string | null): Promise<number> {
    const request = AppendEventRequest.fromPartial({ logId, payload, idempotencyKey: key ?? "" });
    return Number((await this.#ask(EventLogService.appendEvent, request)).sequence);
  }

  async appendByHttp(log: string, payload: Buffer, key: string | null): Promise<number> {
    const headers = key === null ? {} : { "idempotency-key": key };
    return (await this.#answer("POST", `/logs/${log}/append`, headers, payload)).sequence as number;
  }

  async appendBatch(log: string, lines: Buffer, key: string): Promise<readonly number[]> {
    const path = `/logs/${log}/append_batch?delimiter=%0A`;
    return (await this.#answer("POST", path, { "idempotency-key": key }, lines)).sequences as number[];
  }

  async lastSequence(log: string): Promise<number> {
    return (await this.#answer("GET", `/logs/${log}`, {}, undefined)).last_sequence as number;
  }

  async follow(log: string, fromSequence: number, onEvent: (sequence: number) => void): Promise<void> {
    const path = `/logs/${log}/events?from_sequence=${fromSequence}`;
    const response = await this.#send("GET", path, { accept: "text/event-stream" }, undefined);
    let text = "";
    response.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const end = text.lastIndexOf("\n\n");
      for (const [, id] of text.slice(0, Math.max(end, 0)).matchAll(EVENT_ID)) {
        onEvent(Number(id));
      }
      text = text.slice(end + 1);
    });
    // It ends with the connection; a caller that waits notices the missing events.
    response.on("error", () => undefined);
  }

  close(): void {
    this.#closing.abort();
    this.#agent.destroy();
  }

  async #answer(
    method: "GET" | "POST",
    path: string,
    headers: Readonly<Record<string, string>>,
    body: Buffer | undefined,
  ): Promise<Record<string, unknown>> {
    const response = await this.#send(method, path, headers, body);
    const chunks: Buffer[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
    }
    const text = Buffer.concat(chunks).toString("utf8");
    if (response.statusCode !== OK && response.statusCode !== CREATED) {
      throw new Error(`${method} ${path} was answered with ${response.statusCode}: ${text}`);
    }
    return JSON.parse(text);
  }

  #send(
    method: "GET" | "POST",
    path: string,
    headers: Readonly<Record<string, string>>,
    body: Buffer | undefined,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = request(`${this.#url}${path}`, {
        method,
        agent: this.#agent,
        signal: this.#closing.signal,
        headers: { ...headers, authorization: `Bearer ${this.#token}` },
      });
      sent.on("response", resolve).on("error", reject).end(body);
    });
  }
}
