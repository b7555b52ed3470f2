/**
 * Exchanges API keys, and passwords of users, for access tokens at any member.
 *
 * An exchange is an operation without a token. Repeating one does no harm, whatever the outcome of the attempt before.
 */

import { type LoginResponse, serviceDefinitions } from "@quoin/proto";
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

/** What is exchanged for the tokens of operations. */
export type ExchangedSecret =
  /** An API key, exchanged for tokens. */
  | { readonly apiKey: string }
  /** The e-mail address and the password of a user, exchanged for tokens. */
  | { readonly email: string; readonly password: string };

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
 * Exchanges an API key or a password for the operations of a client, which retry themselves: one attempt at the current
 * endpoint of its pool. The pool leaves that endpoint if the attempt fails.
 */
export function exchangeInPool(
  context: Omit<OperationContext, "tokens">,
  secret: ExchangedSecret,
): Promise<AccessToken> {
  const { exchanged, timeoutMs, persistence } = operationsExchange(secret, 1);
  return exchanged({ ...context, tokens: NO_TOKENS, timeoutMs }, persistence);
}

/** The same for the operations of several clients: one attempt at each endpoint. */
export function exchangeInRound(
  target: ExchangeTarget,
  secret: ExchangedSecret,
  runtime: Runtime,
): Promise<AccessToken> {
  const attempts = target.endpoints.length;
  const { exchanged, timeoutMs, persistence } = operationsExchange(secret, attempts);
  return withPool(target, attempts * timeoutMs, runtime, (context) => exchanged(context, persistence));
}

/** How operations exchange a secret, with this many attempts. */
function operationsExchange(secret: ExchangedSecret, maxAttempts: number) {
  const isKey = "apiKey" in secret;
  const timeoutMs = isKey ? EXCHANGE_TIMEOUT_MS : LOGIN_TIMEOUT_MS;
  const attemptTimeoutMs = timeoutMs * (isKey ? EXCHANGE_ATTEMPT_SHARE : LOGIN_ATTEMPT_SHARE);
  return {
    timeoutMs,
    persistence: { maxAttempts, countsUnreached: true, attemptTimeoutMs },
    exchanged: async (context: OperationContext, persistence: Persistence): Promise<AccessToken> =>
      isKey
        ? exchange(context, secret.apiKey, persistence, 0)
        : tokenOf(await passwordAnswer(context, secret, persistence)),
  };
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
  const persistence = { maxAttempts: ATTEMPTS_MAX, attemptTimeoutMs: timeoutMs * LOGIN_ATTEMPT_SHARE };
  return withPool(request, timeoutMs, runtime, async (context) => {
    const message = await passwordAnswer(context, request, persistence);
    return { ...tokenOf(message), user: userInfo(message.user) };
  });
}

function passwordAnswer(
  context: OperationContext,
  { email, password }: Pick<LoginRequest, "email" | "password">,
  persistence: Persistence,
): Promise<LoginResponse> {
  const fields = { email: textField("email", email), password: textField("password", password) };
  return decided(execute(context, loginMethod, fields, {}, persistence));
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
