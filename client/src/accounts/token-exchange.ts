/**
 * Exchanges API keys, and passwords of users, for access tokens at the HTTP interface of any member.
 *
 * Each endpoint is tried in turn. If none could decide, all are tried again until the time is up, as for other
 * operations: up to four attempts that reach a member, and any number of those that reach none. Repeating an exchange
 * does no harm, whatever the outcome of the attempt before.
 */

import { QuoinError } from "../errors/index.ts";
import { listOf, optionsCheck, text, timeout, timeoutField, unchecked, whole } from "../options/index.ts";
import {
  ATTEMPTS_MAX,
  backoffMs,
  failureOf,
  type HttpAnswer,
  HttpExchange,
  isPassing,
  isToken,
  isUnreached,
  parseObject,
  type Runtime,
  systemRuntime,
  type Tls,
  type TlsOptions,
  unreachedPauseMs,
} from "../transport/index.ts";

/** Where to exchange. */
interface ExchangeTarget {
  /** URLs of HTTP interfaces, such as `http://127.0.0.1:7401`; tried in turn until one decides. */
  readonly httpEndpoints: readonly string[];
  readonly tls?: TlsOptions | undefined;
  /**
   * How long to continue while no endpoint decides, in milliseconds; also the limit for each endpoint in the first
   * round. Default for an API key: 5,000, and 2,000 for each endpoint; for a login: 10,000.
   */
  readonly timeoutMs?: number | undefined;
}

/** The same, with options that may have been checked. */
type Checked<Target extends ExchangeTarget> = Omit<Target, "tls"> & { readonly tls?: TlsOptions | Tls | undefined };
type CheckedTarget = Checked<ExchangeTarget>;

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
  readonly user: {
    readonly userId: string;
    readonly email: string;
    readonly role: string;
    readonly namespaces: readonly string[];
  };
}

interface Exchange {
  readonly path: string;
  readonly body: object;
}

const STATUS_OK = 200;
/** Members with such an answer could not decide, or have a bug: try the next one. */
const FIRST_STATUS_OF_SERVER_ERRORS = 500;

/** Time limits, in milliseconds. */
interface TimeLimits {
  /** An attempt at one endpoint. */
  readonly attemptMs: number;
  /** All rounds together; the first one always runs to its end. */
  readonly totalMs: number;
  /** Ends them all. */
  readonly closing?: AbortSignal | undefined;
}

/** Two attempts fit into the default deadline of a call. */
const DEFAULT_TIME_LIMITS: TimeLimits = { attemptMs: 2_000, totalMs: 5_000 };
/** A password is hashed before the answer, which is slow by design: this is the maximum of the service. */
const DEFAULT_LOGIN_TIME_LIMITS: TimeLimits = { attemptMs: 10_000, totalMs: 10_000 };

const targetRules = { httpEndpoints: listOf(text), tls: unchecked, timeoutMs: timeout };
const checkExchange = optionsCheck<ExchangeRequest>({ ...targetRules, apiKey: text, expiresInSeconds: whole }, [
  "apiKey",
  "httpEndpoints",
]);
const checkLogin = optionsCheck<LoginRequest>({ ...targetRules, email: text, password: text }, [
  "email",
  "password",
  "httpEndpoints",
]);

/**
 * Exchanges an API key for a token.
 *
 * @throws QuoinError UNAUTHENTICATED / INVALID_API_KEY for a key that is unknown, revoked or expired; UNAVAILABLE if no
 * endpoint could decide. The message contains neither the key nor a token.
 */
export async function exchangeApiKey(request: ExchangeRequest, runtime: Runtime = systemRuntime): Promise<AccessToken> {
  checkExchange(request, "exchangeApiKey");
  return exchange(request, apiKeyExchange(request), timeLimitsOf(request, DEFAULT_TIME_LIMITS), runtime, tokenOf);
}

/**
 * The same in one round. An operation that needs the token repeats this call until its own deadline.
 *
 * @param closing ends it at once.
 */
export async function exchangeApiKeyOnce(
  request: Checked<ExchangeRequest>,
  closing?: AbortSignal,
): Promise<AccessToken> {
  const limits = { ...timeLimitsOf(request, DEFAULT_TIME_LIMITS), totalMs: 0, closing };
  return exchange(request, apiKeyExchange(request), limits, systemRuntime, tokenOf);
}

/**
 * Exchanges the e-mail address and the password of a user for a token.
 *
 * @throws QuoinError UNAUTHENTICATED / INVALID_CREDENTIALS if either is wrong; PERMISSION_DENIED / EMAIL_NOT_VERIFIED;
 * UNAVAILABLE if no endpoint could decide. The message contains neither the password nor a token.
 */
export async function logIn(request: LoginRequest, runtime: Runtime = systemRuntime): Promise<Login> {
  checkLogin(request, "logIn");
  const { email, password, ...target } = request;
  const asked = { path: "/auth/login", body: { email, password } };
  return exchange(target, asked, timeLimitsOf(target, DEFAULT_LOGIN_TIME_LIMITS), runtime, (answer) => {
    const token = tokenOf(answer);
    const user = answer.get("user");
    return token !== undefined && isUser(user)
      ? { ...token, user: { userId: user.user_id, email: user.email, role: user.role, namespaces: user.namespaces } }
      : undefined;
  });
}

function apiKeyExchange({ apiKey, expiresInSeconds }: Checked<ExchangeRequest>): Exchange {
  return { path: "/auth/token", body: { api_key: apiKey, expires_in_secs: expiresInSeconds } };
}

/** @throws QuoinError INVALID_ARGUMENT / BAD_FIELD for a time beyond the range of timers. */
function timeLimitsOf({ timeoutMs }: CheckedTarget, unset: TimeLimits): TimeLimits {
  if (timeoutMs === undefined) {
    return unset;
  }
  timeoutField("timeoutMs", timeoutMs);
  return { attemptMs: timeoutMs, totalMs: timeoutMs };
}

/** @param read parses an answer; undefined = it is invalid. */
async function exchange<Result>(
  target: CheckedTarget,
  asked: Exchange,
  limits: TimeLimits,
  runtime: Runtime,
  read: (answer: ReadonlyMap<string, unknown>) => Result | undefined,
): Promise<Result> {
  const { endpoint, answer } = await firstDecision(target, asked, limits, runtime);
  if (answer.status !== STATUS_OK) {
    const refusal = notExecuted(failureOf(answer, endpoint));
    // The exchange looks nothing up, so NOT_FOUND means a wrong path, on a server that is not a member.
    throw refusal.code === "NOT_FOUND" ? refusal.with({ code: "UNIMPLEMENTED" }) : refusal;
  }
  const result = read(parseObject(answer.body));
  if (result !== undefined) {
    return result;
  }
  throw new QuoinError({ code: "INTERNAL", message: `${endpoint} answered POST ${asked.path} without a token` });
}

/** The answer of the first endpoint that does not fail. */
async function firstDecision(
  { httpEndpoints, tls }: CheckedTarget,
  { path, body }: Exchange,
  { attemptMs, totalMs, closing }: TimeLimits,
  runtime: Runtime,
): Promise<{ readonly endpoint: string; readonly answer: HttpAnswer }> {
  const headers = { "content-type": "application/json" };
  const request = { method: "POST", path, headers, body: Buffer.from(JSON.stringify(body)) } as const;
  const endMs = runtime.monotonicMs() + totalMs;
  const http = new HttpExchange(tls);
  let failure = new QuoinError({ code: "UNAVAILABLE", message: "there is no HTTP endpoint to ask for a token" });
  let counted = 0;
  try {
    for (let round = 1; ; round += 1) {
      let mayPass = false;
      let reached = false;
      for (const endpoint of httpEndpoints) {
        const leftMs = round === 1 ? attemptMs : Math.min(attemptMs, endMs - runtime.monotonicMs());
        if (leftMs <= 0 || closing?.aborted === true || (round > 1 && counted >= ATTEMPTS_MAX)) {
          break;
        }
        const timeout = AbortSignal.timeout(Math.ceil(leftMs));
        try {
          const signal = closing === undefined ? timeout : AbortSignal.any([timeout, closing]);
          const answer = await http.answer(endpoint, request, signal);
          if (answer.status < FIRST_STATUS_OF_SERVER_ERRORS) {
            return { endpoint, answer };
          }
          failure = failureOf(answer, endpoint);
        } catch (error) {
          failure = QuoinError.from(error);
        }
        mayPass ||= isPassing(failure);
        if (!isUnreached(failure)) {
          reached = true;
          counted += 1;
        }
      }
      const pauseMs = (reached ? backoffMs : unreachedPauseMs)(round, runtime.random());
      if (!mayPass || counted >= ATTEMPTS_MAX || runtime.monotonicMs() + pauseMs >= endMs) {
        break;
      }
      await runtime.sleep(pauseMs, undefined);
    }
  } finally {
    http.close();
  }
  throw notExecuted(failure.with({ code: "UNAVAILABLE" }));
}

/** If the token did not arrive, no one has it, so the exchange had no relevant effect. */
function notExecuted(error: QuoinError): QuoinError {
  return error.with({ outcome: "not-executed" });
}

function tokenOf(answer: ReadonlyMap<string, unknown>): AccessToken | undefined {
  const accessToken = answer.get("access_token");
  const expiresInSeconds = answer.get("expires_in");
  if (typeof accessToken !== "string" || !isToken(accessToken) || !isLife(expiresInSeconds)) {
    return undefined;
  }
  return { accessToken, expiresInSeconds };
}

interface WireUser {
  readonly user_id: string;
  readonly email: string;
  readonly role: string;
  readonly namespaces: readonly string[];
}

function isUser(value: unknown): value is WireUser {
  const names = ["user_id", "email", "role", "namespaces"];
  return typeof value === "object" && value !== null && names.every((name) => Object.hasOwn(value, name));
}

function isLife(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}
