/**
 * The exchange of an API key for an access token: POST /auth/token at the HTTP interface of any member.
 *
 * It uses Node's own HTTP client, because `fetch` cannot be told which authorities to trust. Redirects are not followed:
 * the key is sent to no address but the given ones.
 */

import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isToken } from "./bearer-token.ts";
import { QuoinError, type QuoinErrorCode } from "./quoin-error.ts";
import { type TlsOptions, toNodeTls } from "./tls.ts";

/** What to exchange, and where. */
export interface ExchangeRequest {
  readonly apiKey: string;
  /** URLs of HTTP interfaces, such as `http://127.0.0.1:7401`; tried in turn until one decides. */
  readonly httpEndpoints: readonly string[];
  readonly tls?: TlsOptions | undefined;
  /** Wanted life of the token in seconds, at least 1; the service shortens it to what it allows. Default 3,600. */
  readonly expiresInSeconds?: number | undefined;
  /** How long each endpoint may take, in milliseconds. Default 2,000: two fit into the default deadline of a call. */
  readonly timeoutMs?: number | undefined;
}

/** A fresh token. */
export interface AccessToken {
  readonly accessToken: string;
  /** Its life from now on, in seconds, as the service says. */
  readonly expiresInSeconds: number;
}

const defaultTimeoutMs = 2_000;

/** More than any answer has; it bounds what a wrong address can make this side read. */
const maxAnswerBytes = 64 * 1_024;

const codes: ReadonlyMap<number, QuoinErrorCode> = new Map([
  [400, "INVALID_ARGUMENT"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "UNIMPLEMENTED"],
  [429, "RESOURCE_EXHAUSTED"],
]);

interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * Exchanges an API key for a token.
 *
 * @throws QuoinError UNAUTHENTICATED / INVALID_API_KEY for a key that is unknown, revoked or expired; UNAVAILABLE when no
 *   endpoint could decide. The message contains neither the key nor a token.
 */
export async function exchangeApiKey(request: ExchangeRequest): Promise<AccessToken> {
  let failure: QuoinError | undefined;
  for (const endpoint of request.httpEndpoints) {
    try {
      return readToken(endpoint, await post(endpoint, request));
    } catch (error) {
      failure = QuoinError.from(error);
      if (failure.code !== "UNAVAILABLE") throw failure;
    }
  }
  throw failure ?? unavailable("there is no HTTP endpoint to exchange the API key at");
}

function post(endpoint: string, { apiKey, tls, expiresInSeconds, timeoutMs }: ExchangeRequest): Promise<HttpAnswer> {
  const url = new URL("/auth/token", endpoint);
  const body = JSON.stringify({ api_key: apiKey, expires_in_secs: expiresInSeconds });
  const options = {
    method: "POST",
    headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
    agent: false,
    signal: AbortSignal.timeout(timeoutMs ?? defaultTimeoutMs),
  } as const;
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(unavailable(`no answer from ${url.origin}: ${error.message}`, error));
    const request =
      url.protocol === "https:"
        ? requestHttps(url, { ...options, ...toNodeTls(tls ?? {}) })
        : requestHttp(url, options);
    request.on("error", fail);
    request.once("response", (response) => {
      let answer = "";
      response.setEncoding("utf8");
      response.on("error", fail);
      response.on("data", (chunk: string) => {
        answer += chunk;
        if (answer.length > maxAnswerBytes) response.destroy(new Error("the answer is too large"));
      });
      response.once("end", () => resolve({ status: response.statusCode ?? 0, body: answer }));
    });
    request.end(body);
  });
}

function readToken(endpoint: string, { status, body }: HttpAnswer): AccessToken {
  const answer = parseObject(body);
  if (status !== 200) throw refusal(endpoint, status, answer);
  const accessToken = answer.get("access_token");
  const expiresInSeconds = answer.get("expires_in");
  if (typeof accessToken !== "string" || !isToken(accessToken) || !isLife(expiresInSeconds)) {
    throw new QuoinError({ code: "INTERNAL", message: `${endpoint} answered POST /auth/token without a token` });
  }
  return { accessToken, expiresInSeconds };
}

function refusal(endpoint: string, status: number, answer: ReadonlyMap<string, unknown>): QuoinError {
  const message = answer.get("error");
  const reason = answer.get("code");
  return new QuoinError({
    code: codes.get(status) ?? (status >= 500 ? "UNAVAILABLE" : "UNKNOWN"),
    reason: typeof reason === "string" ? reason.toUpperCase() : undefined,
    outcome: "not-executed",
    message: typeof message === "string" ? message : `${endpoint} answered POST /auth/token with HTTP status ${status}`,
  });
}

function isLife(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}

/** The fields of a JSON object; none when the text is something else, as from a server that is not a member. */
function parseObject(text: string): ReadonlyMap<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return new Map(typeof value === "object" && value !== null ? Object.entries(value) : []);
  } catch (error) {
    if (error instanceof SyntaxError) return new Map();
    throw error;
  }
}

/** Nothing happened at the service that matters: a token that was not received is one that nobody has. */
function unavailable(message: string, cause?: unknown): QuoinError {
  return new QuoinError({ code: "UNAVAILABLE", outcome: "not-executed", message, cause });
}
