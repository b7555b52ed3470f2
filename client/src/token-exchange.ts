/** The exchange of an API key for an access token: POST /auth/token at the HTTP interface of any member. */

import { isToken } from "./bearer-token.ts";
import { askHttp, type HttpAnswer, type HttpRequest, httpRefusal, parseObject } from "./http-request.ts";
import { QuoinError } from "./quoin-error.ts";
import type { TlsOptions } from "./tls.ts";

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
const asked = { method: "POST", path: "/auth/token" } as const;

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
      return readToken(endpoint, await askHttp(endpoint, toHttp(request)));
    } catch (error) {
      failure = QuoinError.from(error);
      if (failure.code !== "UNAVAILABLE" && failure.code !== "DEADLINE_EXCEEDED") throw failure;
      failure = unavailable(failure.message, failure.reason, failure.cause);
    }
  }
  throw failure ?? unavailable("there is no HTTP endpoint to exchange the API key at");
}

function toHttp({ apiKey, tls, expiresInSeconds, timeoutMs = defaultTimeoutMs }: ExchangeRequest): HttpRequest {
  return { ...asked, body: { api_key: apiKey, expires_in_secs: expiresInSeconds }, tls, timeoutMs };
}

function readToken(endpoint: string, given: HttpAnswer): AccessToken {
  if (given.status !== 200) throw httpRefusal(endpoint, asked, given);
  const answer = parseObject(given.body);
  const accessToken = answer.get("access_token");
  const expiresInSeconds = answer.get("expires_in");
  if (typeof accessToken !== "string" || !isToken(accessToken) || !isLife(expiresInSeconds)) {
    throw new QuoinError({ code: "INTERNAL", message: `${endpoint} answered POST /auth/token without a token` });
  }
  return { accessToken, expiresInSeconds };
}

function isLife(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}

/** Nothing happened at the service that matters: a token that was not received is one that nobody has. */
function unavailable(message: string, reason?: string, cause?: unknown): QuoinError {
  return new QuoinError({ code: "UNAVAILABLE", reason, outcome: "not-executed", message, cause });
}
