/**
 * One operation from the caller's point of view: up to four attempts with one request id, within one deadline, with the
 * endpoints and tokens that it takes.
 *
 * - UNAVAILABLE is tried again, at the leader if the member named it, else at the next endpoint. That is safe for mutations,
 *   because the service executes a request id once and replays its answer.
 * - UNAUTHENTICATED is tried again once with another token, if there is one.
 * - Attempts that reach no member do not count: they are repeated as long as the deadline allows, for a Service may have
 *   no endpoint for a while.
 * - Everything else is final: PERMISSION_DENIED does not get better, and DEADLINE_EXCEEDED leaves no time.
 *
 * What must not end before its deadline, such as the renewal of a lock, is given more persistence than four attempts.
 */

import { randomUUID } from "node:crypto";
import { backoffMs, isUnreached, maxAttempts, unreachedPauseMs } from "./backoff.ts";
import { callMetadata } from "./call-metadata.ts";
import type { EndpointPool } from "./endpoint-pool.ts";
import { type Outcome, QuoinError } from "./quoin-error.ts";
import { badField } from "./request-field.ts";
import type { Runtime } from "./runtime.ts";
import type { Target } from "./target.ts";
import type { TokenSource } from "./token-source.ts";
import { type Answer, callUnary, type UnaryMethod } from "./unary-call.ts";

/** Options that every operation takes. */
export interface CallOptions {
  /** How long the operation may take over all its attempts, in milliseconds, more than 0. Default 5,000. */
  readonly timeoutMs?: number | undefined;
  /** Cancels the operation: it then fails with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Request id of the operation, a UUID; random by default. Repeating an operation of which the outcome is unknown with the
   * request id of its error executes it at most once.
   */
  readonly requestId?: string | undefined;
}

/** What operations of one client share. */
export interface OperationContext {
  readonly pool: EndpointPool;
  readonly tokens: TokenSource;
  readonly runtime: Runtime;
  /** Deadline of operations that set none, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether an attempt may go to the leader's endpoint; not for methods that ask one very member. */
  readonly followLeader: boolean;
  /** Called after each operation that was answered. */
  readonly onAnswer?: (() => void) | undefined;
}

/** How long an operation goes on while members fail. */
export interface Persistence {
  /** Most attempts, the first one included; Infinity = as many as the deadline allows. */
  readonly maxAttempts: number;
  /** Whether attempts count that reach no member; always for methods that ask one very member. Default false. */
  readonly countsUnreached?: boolean | undefined;
  /**
   * How long a member may take for one attempt before the next one is asked, in milliseconds; only for requests that are
   * answered at once. Undefined = as long as the operation.
   */
  readonly attemptTimeoutMs?: number | undefined;
}

/** What an operation is answered. */
export interface Execution<Response> extends Answer<Response> {
  /** When the attempt that was answered began, on the runtime's clock: its request was not sent earlier. */
  readonly attemptStartMs: number;
}

const usualPersistence: Persistence = { maxAttempts };

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The longest timer that Node has; a longer deadline would end at once. */
const maxTimeoutMs = 2 ** 31 - 1;

/**
 * Errors that are decided where the request is executed, so that they also tell what became of an earlier attempt with the
 * same request id. Errors that come before, such as UNAUTHENTICATED, do not.
 */
const decidedCodes: ReadonlySet<string> = new Set([
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
]);

/**
 * Executes one operation.
 *
 * @throws QuoinError with the request id, and the outcome over all attempts.
 */
export async function execute<Request, Response>(
  context: OperationContext,
  method: UnaryMethod<Request, Response>,
  request: Request,
  options: CallOptions,
  persistence: Persistence = usualPersistence,
): Promise<Execution<Response>> {
  return new Operation({ context, method, request, persistence }, options).run();
}

/** What an operation is made of. */
interface OperationParts<Request, Response> {
  readonly context: OperationContext;
  readonly method: UnaryMethod<Request, Response>;
  readonly request: Request;
  readonly persistence: Persistence;
}

class Operation<Request, Response> {
  readonly #context: OperationContext;
  readonly #method: UnaryMethod<Request, Response>;
  readonly #request: Request;
  readonly #persistence: Persistence;
  readonly #signal: AbortSignal | undefined;
  readonly #requestId: string;
  readonly #deadlineMs: number;
  /** The token of the attempt under way; undefined while there is none. */
  #token: string | undefined;
  #tokenRefreshed = false;
  /** Attempts that count. */
  #counted = 0;
  /** What is certain of the attempts so far. */
  #outcome: Outcome = "not-executed";

  constructor(
    { context, method, request, persistence }: OperationParts<Request, Response>,
    { timeoutMs = context.timeoutMs, signal, requestId }: CallOptions,
  ) {
    assertTimeout(timeoutMs);
    if (requestId !== undefined && !uuidPattern.test(requestId)) throw badField("requestId", "is not a UUID");
    this.#context = context;
    this.#method = method;
    this.#request = request;
    this.#persistence = persistence;
    this.#signal = signal;
    this.#requestId = requestId?.toLowerCase() ?? randomUUID();
    this.#deadlineMs = context.runtime.monotonicMs() + timeoutMs;
  }

  async run(): Promise<Execution<Response>> {
    for (let attempt = 1; ; attempt += 1) {
      if (this.#context.pool.closed) throw this.#conclude(notSent("CANCELLED", "the client is closed"));
      const target = this.#context.pool.current();
      try {
        const execution = await this.#attempt(target);
        this.#context.onAnswer?.();
        return execution;
      } catch (thrown) {
        const failure = QuoinError.from(thrown);
        const error = this.#conclude(failure);
        this.#outcome = error.outcome;
        await this.#prepareNext(attempt, target.endpoint, error, this.#isUncounted(failure));
      }
    }
  }

  async #attempt(target: Target): Promise<Execution<Response>> {
    const token = await this.#takeToken();
    const remainingMs = this.#remainingMs();
    if (remainingMs <= 0) throw notSent("DEADLINE_EXCEEDED", "no time was left to send the request");
    const attemptStartMs = this.#context.runtime.monotonicMs();
    const answer = await callUnary(target, {
      method: this.#method,
      request: this.#request,
      metadata: callMetadata(token, this.#requestId),
      remainingMs: Math.min(remainingMs, this.#persistence.attemptTimeoutMs ?? remainingMs),
      signal: this.#signal,
    });
    return { ...answer, attemptStartMs };
  }

  /** Makes ready for another attempt, or throws the error when there is to be none. */
  async #prepareNext(attempt: number, endpoint: string, error: QuoinError, isUncounted: boolean): Promise<void> {
    if (!isUncounted) this.#counted += 1;
    if (this.#counted >= this.#persistence.maxAttempts) throw error;
    if (error.code === "UNAUTHENTICATED" && this.#token !== undefined && !this.#tokenRefreshed) {
      this.#tokenRefreshed = true;
      const failure = await this.#refreshToken(this.#token, error);
      // Without another token, this attempt has failed for the reason that there is none.
      if (failure !== null) await this.#prepareNext(attempt, endpoint, failure, isUnreached(failure));
      return;
    }
    if (error.code !== "UNAVAILABLE" && !this.#isLateAttempt(error)) throw error;
    this.#context.pool.leave(endpoint, this.#context.followLeader ? error.leaderEndpoint : undefined);
    const pauseMs = (isUncounted ? unreachedPauseMs : backoffMs)(attempt, this.#context.runtime.random());
    if (pauseMs >= this.#remainingMs()) throw error;
    await this.#pause(pauseMs);
    // The pause may have taken longer. What was wrong says more than that no time is left.
    if (this.#remainingMs() <= 0) throw error;
  }

  #isUncounted(failure: QuoinError): boolean {
    return isUnreached(failure) && this.#context.followLeader && this.#persistence.countsUnreached !== true;
  }

  /** Whether only the member was too slow, and not the operation. */
  #isLateAttempt({ code }: QuoinError): boolean {
    return code === "DEADLINE_EXCEEDED" && this.#persistence.attemptTimeoutMs !== undefined && this.#remainingMs() > 0;
  }

  async #takeToken(): Promise<string> {
    this.#token = undefined;
    const token = this.#context.tokens.token();
    this.#token = typeof token === "string" ? token : await this.#within(token);
    return this.#token;
  }

  /** Why there is no other token for the next attempt: the refusal, or why none could be fetched; null = there is one. */
  async #refreshToken(refused: string, refusal: QuoinError): Promise<QuoinError | null> {
    try {
      return (await this.#within(this.#context.tokens.refresh(refused))) === undefined ? refusal : null;
    } catch (thrown) {
      return this.#conclude(QuoinError.from(thrown));
    }
  }

  async #pause(durationMs: number): Promise<void> {
    try {
      await this.#context.runtime.sleep(durationMs, this.#signal);
    } catch (thrown) {
      if (this.#signal?.aborted !== true) throw thrown;
      throw this.#conclude(cancelled(this.#signal));
    }
  }

  /** Waits for work that other operations may share, so that it goes on when this one has waited long enough. */
  #within<Result>(work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const signal = this.#signal;
      const timeout = AbortSignal.timeout(Math.max(0, Math.ceil(this.#remainingMs())));
      const onTimeout = () => reject(notSent("DEADLINE_EXCEEDED", "the deadline passed while waiting for a token"));
      const onAbort = () => reject(cancelled(signal));
      timeout.addEventListener("abort", onTimeout, { once: true });
      signal?.addEventListener("abort", onAbort, { once: true });
      if (signal?.aborted === true) onAbort();
      work.then(resolve, reject).finally(() => {
        timeout.removeEventListener("abort", onTimeout);
        signal?.removeEventListener("abort", onAbort);
      });
    });
  }

  #remainingMs(): number {
    return this.#deadlineMs - this.#context.runtime.monotonicMs();
  }

  /** The error with what is certain after all attempts: one of unknown outcome is settled only by a decided answer. */
  #conclude(error: QuoinError): QuoinError {
    const settled = decidedCodes.has(error.code) || error.reason === "QUOTA";
    const outcome = this.#outcome === "unknown" && !settled ? "unknown" : error.outcome;
    return error.with({ outcome, requestId: this.#requestId });
  }
}

/** @throws QuoinError INVALID_ARGUMENT / BAD_FIELD for a time that no timer can measure. */
export function assertTimeout(timeoutMs: number): void {
  if (timeoutMs > 0 && timeoutMs <= maxTimeoutMs) return;
  throw badField("timeoutMs", `must be more than 0 and at most ${maxTimeoutMs}, not ${timeoutMs}`);
}

function notSent(code: "CANCELLED" | "DEADLINE_EXCEEDED", message: string): QuoinError {
  const reason = code === "DEADLINE_EXCEEDED" ? "DEADLINE" : "";
  return new QuoinError({ code, reason, outcome: "not-executed", message });
}

function cancelled(signal: AbortSignal | undefined): QuoinError {
  return notSent("CANCELLED", "the operation was cancelled").with({ cause: signal?.reason });
}
