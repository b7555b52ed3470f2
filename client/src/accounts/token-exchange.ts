/**
 * Exchanges API keys, and passwords of users, for access tokens at any member.
 *
 * An exchange is an operation without a token. Repeating one does no harm, whatever the outcome of the attempt before.
 */

import { serviceDefinitions } from "@quoin/proto";
import { execute, type OperationContext, type Persistence, unaryMethod } from "../calls/index.ts";
import { QuoinError } from "../errors/index.ts";
import { optionsCheck, positiveField, text, textField, whole } from "../options/index.ts";
import { ATTEMPTS_MAX, isToken, NO_TOKENS, type Runtime, systemRuntime } from "../transport/index.ts";
import { type ExchangeTarget, targetRules, withPool } from "./exchange-target.ts";
import { type UserInfo, userInfo } from "./user-info.ts";

const exchangeMethod = unaryMethod(serviceDefinitions.AccountService.exchangeToken);
const loginMethod = unaryMethod(serviceDefinitions.AccountService.login);

/** An API key, and where to exchange it. */
export interface ExchangeRequest extends ExchangeTarget {
  readonly apiKey: string;
  /** Requested life of the token in seconds, at least 1; the service may shorten it. Default 3,600. */
  readonly expiresInSeconds?: number | undefined;
}

/** A user who logs in, and where. */
export interface LoginRequest extends ExchangeTarget {
  readonly email: string;
  readonly password: string;
}

/** A new token. */
export interface AccessToken {
  readonly accessToken: string;
  /** Its life from now on, in seconds, as reported by the service. */
  readonly expiresInSeconds: number;
}

/** A new token of a user. */
export interface Login extends AccessToken {
  readonly user: UserInfo;
}

/** Two attempts fit into the default deadline of a call. */
const EXCHANGE_TIMEOUT_MS = 5_000;
const EXCHANGE_ATTEMPT_SHARE = 0.4;
/** A password is hashed before the answer, which is slow by design: this is the maximum of the service. */
const LOGIN_TIMEOUT_MS = 10_000;
const LOGIN_ATTEMPT_SHARE = 0.5;

/** The time limit of an attempt that is made for operations. */
const ATTEMPT_TIMEOUT_MS = EXCHANGE_TIMEOUT_MS * EXCHANGE_ATTEMPT_SHARE;

const checkExchange = optionsCheck<ExchangeRequest>({ ...targetRules, apiKey: text, expiresInSeconds: whole }, [
  "apiKey",
  "endpoints",
]);
const checkLogin = optionsCheck<LoginRequest>({ ...targetRules, email: text, password: text }, [
  "email",
  "password",
  "endpoints",
]);

/**
 * Exchanges an API key for a token.
 *
 * @throws QuoinError UNAUTHENTICATED / INVALID_API_KEY for a key that is unknown, revoked or expired; UNAVAILABLE or
 * DEADLINE_EXCEEDED if no member could decide. The message contains neither the key nor a token.
 */
export async function exchangeApiKey(request: ExchangeRequest, runtime: Runtime = systemRuntime): Promise<AccessToken> {
  checkExchange(request, "exchangeApiKey");
  const { apiKey, expiresInSeconds, timeoutMs = EXCHANGE_TIMEOUT_MS } = request;
  const persistence = { maxAttempts: ATTEMPTS_MAX, attemptTimeoutMs: timeoutMs * EXCHANGE_ATTEMPT_SHARE };
  return withPool(request, timeoutMs, runtime, (context) =>
    exchange(context, apiKey, persistence, positiveField("expiresInSeconds", expiresInSeconds)),
  );
}

/**
 * The same for the operations of a client, which retry themselves: one attempt at the current endpoint of its pool. The
 * pool leaves that endpoint if the attempt fails.
 */
export function exchangeInPool(context: Omit<OperationContext, "tokens">, apiKey: string): Promise<AccessToken> {
  return exchange({ ...context, tokens: NO_TOKENS, timeoutMs: EXCHANGE_TIMEOUT_MS }, apiKey, countedAttempts(1), 0);
}

/** The same for the operations of several clients: one attempt at each endpoint. */
export function exchangeInRound(target: ExchangeTarget, apiKey: string, runtime: Runtime): Promise<AccessToken> {
  const attempts = target.endpoints.length;
  return withPool(target, attempts * EXCHANGE_TIMEOUT_MS, runtime, (context) =>
    exchange(context, apiKey, countedAttempts(attempts), 0),
  );
}

function countedAttempts(maxAttempts: number): Persistence {
  return { maxAttempts, countsUnreached: true, attemptTimeoutMs: ATTEMPT_TIMEOUT_MS };
}

/**
 * Exchanges the e-mail address and the password of a user for a token.
 *
 * @throws QuoinError UNAUTHENTICATED / INVALID_CREDENTIALS if either is wrong; PERMISSION_DENIED / EMAIL_NOT_VERIFIED;
 * UNAVAILABLE or DEADLINE_EXCEEDED if no member could decide. The message contains neither the password nor a token.
 */
export async function logIn(request: LoginRequest, runtime: Runtime = systemRuntime): Promise<Login> {
  checkLogin(request, "logIn");
  const { timeoutMs = LOGIN_TIMEOUT_MS } = request;
  const fields = { email: textField("email", request.email), password: textField("password", request.password) };
  const persistence = { maxAttempts: ATTEMPTS_MAX, attemptTimeoutMs: timeoutMs * LOGIN_ATTEMPT_SHARE };
  return withPool(request, timeoutMs, runtime, async (context) => {
    const message = await decided(execute(context, loginMethod, fields, {}, persistence));
    return { ...tokenOf(message), user: userInfo(message.user) };
  });
}

async function exchange(
  context: OperationContext,
  apiKey: string,
  persistence: Persistence,
  expiresInSeconds: number,
): Promise<AccessToken> {
  const fields = { apiKey: textField("apiKey", apiKey), expiresInSeconds: BigInt(expiresInSeconds) };
  return tokenOf(await decided(execute(context, exchangeMethod, fields, {}, persistence)));
}

/** If the token did not arrive, no one has it, so the exchange had no relevant effect. */
async function decided<Message>(answer: Promise<{ readonly message: Message }>): Promise<Message> {
  try {
    return (await answer).message;
  } catch (thrown) {
    throw QuoinError.from(thrown).with({ outcome: "not-executed" });
  }
}

/** Checked, because grpc-js quotes a token that it cannot send. */
function tokenOf(answer: { readonly accessToken: string; readonly expiresInSeconds: bigint }): AccessToken {
  const { accessToken } = answer;
  const expiresInSeconds = Number(answer.expiresInSeconds);
  if (!isToken(accessToken) || expiresInSeconds <= 0) {
    throw new QuoinError({ code: "INTERNAL", message: "the answer has no token that can be used" });
  }
  return { accessToken, expiresInSeconds };
}
