/**
 * HTTP at one member, as any client has it: requests as they are written, with headers twice and bodies without a length
 * where an entry wants them so, and everything that came back. What every refusal must carry is required here.
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

/** The codes of the contract, each with its only status. */
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
  /** Beside those of every request, or in their place; null takes one away, a list repeats it. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | null>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is; a list is sent in chunks, without a length. */
  readonly body?: Uint8Array | string | readonly Uint8Array[];
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Statuses that promise that nothing was done. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 503]);
const PATIENCE_MS = 30_000;
const MS_PER_SECOND = 1000;

export class HttpConnection {
  readonly #origin: Origin;
  readonly #token: string | null;
  readonly #agent: Agent;

  /** @param token null = requests carry none, unless their headers do. */
  constructor(origin: Origin, token: string | null) {
    this.#origin = origin;
    this.#token = token;
    this.#agent = origin.ca === undefined ? new Agent({ keepAlive: true }) : new TlsAgent({ keepAlive: true });
  }

  /**
   * Resolves whatever the status is. A request is made again while nobody leads, or when there were too many: both
   * promise that nothing was done, and no table is about elections.
   *
   * @param target path and query, as they are to be sent.
   */
  async call(method: HttpMethod, target: string, request: HttpRequest = {}): Promise<HttpAnswer> {
    const giveUpMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const answer = await this.once(method, target, request);
      if (!PASSING_STATUSES.has(answer.status) || performance.now() > giveUpMs) {
        return answer;
      }
      await sleep(Number(answer.headers["retry-after"]) * MS_PER_SECOND);
    }
  }

  /** The same, made once. */
  async once(method: HttpMethod, target: string, request: HttpRequest = {}): Promise<HttpAnswer> {
    const response = await this.open(method, target, request);
    const chunks: Buffer[] = [];
    for await (const chunk of response) {
      chunks.push(chunk);
    }
    return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
  }

  /** Sends the headers and what there is of the body, and breaks the connection where more was announced. */
  abandoned(method: HttpMethod, target: string, request: HttpRequest): Promise<void> {
    const client = this.#begin(method, target, request);
    const closed = new Promise<void>((resolve) => client.on("close", resolve));
    client.on("error", () => undefined);
    for (const chunk of Array.isArray(request.body) ? request.body : []) {
      client.write(chunk, () => client.destroy());
    }
    return closed;
  }

  /** An answer of which the body is still to come, made once. */
  open(method: HttpMethod, target: string, request: HttpRequest = {}): Promise<IncomingMessage> {
    const { json, body } = request;
    const given = json === undefined ? body : JSON.stringify(json);
    // Node would write the headers in UTF-8 together with a text, and not the bytes that they are.
    const sent = typeof given === "string" ? Buffer.from(given) : given;
    const client = this.#begin(method, target, request);
    return new Promise((resolve, reject) => {
      client.on("response", resolve);
      // One that comes behind the answer, because the rest of the body is not wanted, changes nothing.
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

/** The JSON of an answer that must have this status and be what the contract says of all answers. */
export function answered(answer: HttpAnswer, status = 200): Record<string, unknown> {
  const text = answer.body.toString("utf8");
  expect(answer.status, text).to.equal(status);
  expect(answer.headers["api-version"], "API-Version").to.equal("v1");
  expect(answer.headers["content-type"], text).to.match(/^application\/json(;|$)/);
  return JSON.parse(text);
}

/** Requires of an answer that it is a refusal of this code, with everything that a refusal must carry; its message. */
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
