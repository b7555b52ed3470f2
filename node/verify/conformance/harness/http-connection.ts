/**
 * HTTP at one member, like any client. An entry controls the exact request, such as repeated headers or a body without
 * a length, and gets the complete answer. This file also checks what every refusal must contain.
 */

import {
  Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestPlain,
} from "node:http";
import { request as requestEncrypted, Agent as TlsAgent } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { Origin } from "./raw-call.ts";

/** The codes of the contract, each with its status. */
export const HTTP_STATUSES = {
  invalid_request: 400,
  invalid_header: 400,
  missing_header: 400,
  invalid_delimiter: 400,
  empty_body: 400,
  too_many_events: 400,
  unauthorized: 401,
  token_expired: 401,
  token_revoked: 401,
  invalid_api_key: 401,
  invalid_credentials: 401,
  email_not_verified: 403,
  insufficient_role: 403,
  namespace_denied: 403,
  not_found: 404,
  log_not_found: 404,
  key_not_found: 404,
  user_not_found: 404,
  method_not_allowed: 405,
  already_exists: 409,
  sequence_conflict: 409,
  fenced: 409,
  last_owner: 409,
  compacted: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  unavailable: 503,
  timeout: 504,
  storage_full: 507,
} as const;

export type HttpCode = keyof typeof HTTP_STATUSES;
type HttpMethod = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

export interface HttpRequest {
  /** Added to the usual headers, or replacing them. Null removes a header, a list repeats it. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | null>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged; a list is sent in chunks, without a length. */
  readonly body?: Uint8Array | string | readonly Uint8Array[];
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Statuses that guarantee that nothing was executed. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 503]);
const RETRY_LIMIT_MS = 30_000;
const MS_PER_SECOND = 1000;

export class HttpConnection {
  readonly #origin: Origin;
  readonly #token: string | null;
  readonly #agent: Agent;

  /** @param token null = requests have no token, unless their headers have one */
  constructor(origin: Origin, token: string | null) {
    this.#origin = origin;
    this.#token = token;
    this.#agent = origin.ca === undefined ? new Agent({ keepAlive: true }) : new TlsAgent({ keepAlive: true });
  }

  /**
   * Resolves for any status. Retries a request while there is no leader, or after too many requests: both guarantee
   * that nothing was executed, and no table is about elections.
   *
   * @param target path and query, sent unchanged
   */
  async call(method: HttpMethod, target: string, request: HttpRequest = {}): Promise<HttpAnswer> {
    const giveUpMs = performance.now() + RETRY_LIMIT_MS;
    for (;;) {
      const answer = await this.once(method, target, request);
      if (!PASSING_STATUSES.has(answer.status) || performance.now() > giveUpMs) {
        return answer;
      }
      await sleep(Number(answer.headers["retry-after"]) * MS_PER_SECOND);
    }
  }

  /** The same without retries. */
  async once(method: HttpMethod, target: string, request: HttpRequest = {}): Promise<HttpAnswer> {
    const response = await this.open(method, target, request);
    const chunks: Buffer[] = [];
    for await (const chunk of response) {
      chunks.push(chunk);
    }
    return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
  }

  /** Sends the headers and a part of the announced body, and breaks the connection. */
  abandoned(method: HttpMethod, target: string, request: HttpRequest): Promise<void> {
    const client = this.#begin(method, target, request);
    const closed = new Promise<void>((resolve) => client.on("close", resolve));
    client.on("error", () => undefined);
    for (const chunk of Array.isArray(request.body) ? request.body : []) {
      client.write(chunk, () => client.destroy());
    }
    return closed;
  }

  /** Sends the request once, and resolves with the answer before its body has arrived. */
  open(method: HttpMethod, target: string, request: HttpRequest = {}): Promise<IncomingMessage> {
    const { json, body } = request;
    const given = json === undefined ? body : JSON.stringify(json);
    // Together with a text body, Node would encode the headers as UTF-8 and change their bytes.
    const sent = typeof given === "string" ? Buffer.from(given) : given;
    const client = this.#begin(method, target, request);
    return new Promise((resolve, reject) => {
      client.on("response", resolve);
      // An error after the answer, because the rest of the body is refused, has no effect.
      client.on("error", reject);
      for (const chunk of Array.isArray(sent) ? sent : []) {
        client.write(chunk);
      }
      client.end(Array.isArray(sent) ? undefined : sent);
    });
  }

  #begin(method: HttpMethod, target: string, { headers = {}, json }: HttpRequest): ClientRequest {
    const usual: Record<string, string> = {
      ...(this.#token === null ? {} : { Authorization: `Bearer ${this.#token}` }),
      ...(json === undefined ? {} : { "Content-Type": "application/json" }),
    };
    const { url, ca } = this.#origin;
    const { hostname, port } = new URL(url);
    const send = ca === undefined ? requestPlain : requestEncrypted;
    const client = send({ hostname, port, path: target, method, agent: this.#agent, ...(ca && { ca }) });
    for (const [name, value] of Object.entries({ ...usual, ...headers })) {
      if (value !== null) {
        client.setHeader(name, value);
      }
    }
    return client;
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** The JSON of an answer. Requires this status, and everything that the contract says about all answers. */
export function answered(answer: HttpAnswer, status = 200): Record<string, unknown> {
  const text = answer.body.toString("utf8");
  expect(answer.status, text).to.equal(status);
  expect(answer.headers["api-version"], "API-Version").to.equal("v1");
  expect(answer.headers["content-type"], text).to.match(/^application\/json(;|$)/);
  return JSON.parse(text);
}

/**
 * Requires that the answer is a refusal with this code, and everything that a refusal must have. Returns its message.
 */
export function expectHttpRefusal(answer: HttpAnswer, code: HttpCode): string {
  const body = answered(answer, HTTP_STATUSES[code]);
  expect(body.code, String(body.error)).to.equal(code);
  expect(Object.keys(body).sort(), "fields of a refusal").to.deep.equal(["code", "error"]);
  expect(body.error, "a message for people").to.be.a("string").that.is.not.equal("");
  const { headers } = answer;
  if (code === "unauthorized" || code === "token_expired" || code === "token_revoked") {
    expect(headers["www-authenticate"], "WWW-Authenticate").to.equal('Bearer error="invalid_token"');
  }
  if (code === "unavailable" || code === "rate_limited") {
    expect(headers["retry-after"], "Retry-After").to.match(/^[1-9][0-9]*$/);
  }
  if (code === "method_not_allowed") {
    expect(headers.allow, "Allow").to.match(/^[A-Z]+(, [A-Z]+)*$/);
  }
  return String(body.error);
}
