/**
 * One operation from the caller's point of view: up to four attempts with one request id, within one deadline, with the
 * necessary endpoints and tokens.
 *
 * - UNAVAILABLE is retried, on the leader if the member named it, else on the next endpoint. That is safe for
 *   mutations, because the service executes a request id once and replays its answer.
 * - UNAUTHENTICATED is retried once with a new token, if there is one.
 * - RATE_LIMITED is retried on the same endpoint, after the pause that the member requests.
 * - Attempts that reach no member do not count: they are repeated as long as the deadline allows, because a Service may
 *   have no endpoint for a while.
 * - Everything else is final: PERMISSION_DENIED does not improve, and DEADLINE_EXCEEDED leaves no time.
 *
 * An operation that must not end before its deadline, such as the renewal of a lock, gets more than four attempts.
 */

import { randomUUID } from "node:crypto";
import { type Outcome, QuoinError } from "../errors/index.ts";
import { badField, timeoutField } from "../options/index.ts";
import {
  ATTEMPTS_MAX,
  backoffMs,
  type EndpointPool,
  isUnreached,
  type Runtime,
  type Target,
  type TokenSource,
  unreachedPauseMs,
} from "../transport/index.ts";
import { callMetadata } from "./call-metadata.ts";
import { assertTraceparent, type OperationTrace, type TracedOperation, tracedCall, traceOperation } from "./tracing.ts";
import { type Answer, callUnary, type UnaryMethod } from "./unary-call.ts";

/** Options of every operation. */
export interface CallOptions {
  /** How long the operation may take over all its attempts, in milliseconds, more than 0. Default 5,000. */
  readonly timeoutMs?: number | undefined;
  /** Cancels the operation: it then fails with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Request id of the operation, a UUID; random by default. To repeat an operation with an unknown outcome, use the
   * request id of its error: the service then executes it at most once.
   */
  readonly requestId?: string | undefined;
  /**
   * The header `traceparent` of W3C Trace Context to send, by which members continue the caller's trace. By default the
   * client makes spans below the active one, if the application has registered a tracer provider of OpenTelemetry.
   */
  readonly traceparent?: string | undefined;
}

/** The shared parts of one client's operations. */
export interface OperationContext {
  readonly pool: EndpointPool;
  readonly tokens: TokenSource;
  readonly runtime: Runtime;
  /** Deadline of operations without their own, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether an attempt may go to the leader's endpoint; not for methods of one particular member. */
  readonly followLeader: boolean;
  /** Called after each operation that the service has answered, also with a refusal. */
  readonly onAnswer?: (() => void) | undefined;
}

/** How long an operation continues while members fail. */
export interface Persistence {
  /** The most attempts, including the first one; Infinity = as many as the deadline allows. */
  readonly maxAttempts: number;
  /** Whether attempts that reach no member count; always for methods of one particular member. Default false. */
  readonly countsUnreached?: boolean | undefined;
  /**
   * How long a member may take for one attempt before the next member is tried, in milliseconds; only for requests with
   * an immediate answer. Undefined = as long as the operation.
   */
  readonly attemptTimeoutMs?: number | undefined;
}

/** The answer to an operation. */
export interface Execution<Response> extends Answer<Response> {
  /** When the answered attempt began, on the runtime's clock: its request was not sent earlier. */
  readonly attemptStartMs: number;
}

const USUAL_PERSISTENCE: Persistence = { maxAttempts: ATTEMPTS_MAX };

const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Errors that are decided where the request is executed, so they also settle earlier attempts with the same request id.
 * Errors from before that point, such as UNAUTHENTICATED, do not.
 */
const DECIDED_CODES: ReadonlySet<string> = new Set([
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
  persistence: Persistence = USUAL_PERSISTENCE,
): Promise<Execution<Response>> {
  return new Operation({ context, method, request, persistence }, options).run();
}

/** The parts of an operation. */
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
  readonly #traceparent: string | undefined;
  readonly #requestId: string;
  readonly #deadlineMs: number;
  /** The token of the current attempt; undefined without one. */
  #token: string | undefined;
  #tokenRefreshed = false;
  /** Attempts that count. */
  #counted = 0;
  /** The certain outcome of the attempts so far. */
  #outcome: Outcome = "not-executed";

  constructor(
    { context, method, request, persistence }: OperationParts<Request, Response>,
    { timeoutMs = context.timeoutMs, signal, requestId, traceparent }: CallOptions,
  ) {
    timeoutField("timeoutMs", timeoutMs);
    assertTraceparent(traceparent);
    if (requestId !== undefined && !UUID_PATTERN.test(requestId)) {
      throw badField("requestId", "is not a UUID");
    }
    this.#context = context;
    this.#method = method;
    this.#request = request;
    this.#persistence = persistence;
    this.#signal = signal;
    this.#traceparent = traceparent;
    this.#requestId = requestId?.toLowerCase() ?? randomUUID();
    this.#deadlineMs = context.runtime.monotonicMs() + timeoutMs;
  }

  async run(): Promise<Execution<Response>> {
    const begun = traceOperation(this.#traceparent, () => this.#describe());
    const trace = begun instanceof Promise ? await begun : begun;
    try {
      const execution = await this.#run(trace);
      trace.end(null);
      return execution;
    } catch (thrown) {
      trace.end(QuoinError.from(thrown));
      throw thrown;
    }
  }

  #describe(): TracedOperation {
    return tracedCall(this.#method.path, this.#request, { "quoin.request_id": this.#requestId });
  }

  async #run(trace: OperationTrace): Promise<Execution<Response>> {
    for (let attempt = 1; ; attempt += 1) {
      let target: Target | undefined;
      try {
        this.#assertOpen();
        const token = await this.#readToken();
        this.#assertOpen();
        // Only now: the exchange of an API key may have left an endpoint that fails.
        target = this.#context.pool.current();
        const execution = await this.#attempt(target, token, trace);
        this.#context.onAnswer?.();
        return execution;
      } catch (thrown) {
        const failure = QuoinError.from(thrown);
        const error = this.#conclude(failure);
        this.#outcome = error.outcome;
        if (DECIDED_CODES.has(error.code)) {
          this.#context.onAnswer?.();
        }
        await this.#prepareNext(attempt, target?.endpoint, error, this.#isUncounted(failure));
      }
    }
  }

  #assertOpen(): void {
    if (this.#context.pool.closed) {
      throw notSent("CANCELLED", "the client is closed");
    }
  }

  async #attempt(target: Target, token: string, trace: OperationTrace): Promise<Execution<Response>> {
    const remainingMs = this.#remainingMs();
    if (remainingMs <= 0) {
      throw notSent("DEADLINE_EXCEEDED", "no time was left to send the request");
    }
    const attemptStartMs = this.#context.runtime.monotonicMs();
    const span = trace.attempt(target.endpoint);
    try {
      const answer = await callUnary(target, {
        method: this.#method,
        request: this.#request,
        metadata: callMetadata(token, this.#requestId, span.headers),
        remainingMs: Math.min(remainingMs, this.#persistence.attemptTimeoutMs ?? remainingMs),
        signal: this.#signal,
      });
      span.end(null);
      return { ...answer, attemptStartMs };
    } catch (thrown) {
      span.end(QuoinError.from(thrown));
      throw thrown;
    }
  }

  /**
   * Prepares another attempt, or throws the error if there must be none.
   *
   * @param endpoint of the failed attempt; undefined = there was no token for it.
   */
  async #prepareNext(
    attempt: number,
    endpoint: string | undefined,
    error: QuoinError,
    isUncounted: boolean,
  ): Promise<void> {
    const isPassing = error.code === "UNAVAILABLE" || this.#isLateAttempt(error);
    // Also after the last attempt: the next operation then begins elsewhere.
    if (isPassing && endpoint !== undefined) {
      this.#context.pool.leave(endpoint, this.#context.followLeader ? error.leaderEndpoint : undefined);
    }
    if (!isUncounted) {
      this.#counted += 1;
    }
    if (this.#counted >= this.#persistence.maxAttempts) {
      throw error;
    }
    if (error.code === "UNAUTHENTICATED" && this.#token !== undefined && !this.#tokenRefreshed) {
      this.#tokenRefreshed = true;
      const failure = await this.#refreshToken(this.#token, error);
      // Without a new token, the reason of this failure is the missing token.
      if (failure !== null) {
        await this.#prepareNext(attempt, undefined, failure, isUnreached(failure));
      }
      return;
    }
    const limitedMs = error.reason === "RATE_LIMITED" ? error.retryDelayMs : undefined;
    if (!isPassing && limitedMs === undefined) {
      throw error;
    }
    const jitterMs = (isUncounted ? unreachedPauseMs : backoffMs)(attempt, this.#context.runtime.random());
    const pauseMs = jitterMs + (limitedMs ?? 0);
    if (pauseMs >= this.#remainingMs()) {
      throw error;
    }
    await this.#pause(pauseMs);
    // The pause may have taken longer. The earlier error says more than the passed deadline.
    if (this.#remainingMs() <= 0) {
      throw error;
    }
  }

  #isUncounted(failure: QuoinError): boolean {
    return isUnreached(failure) && this.#context.followLeader && this.#persistence.countsUnreached !== true;
  }

  /** Whether only the member was too slow, and the operation still has time. */
  #isLateAttempt({ code }: QuoinError): boolean {
    return code === "DEADLINE_EXCEEDED" && this.#persistence.attemptTimeoutMs !== undefined && this.#remainingMs() > 0;
  }

  async #readToken(): Promise<string> {
    this.#token = undefined;
    const token = this.#context.tokens.token();
    this.#token = typeof token === "string" ? token : await this.#within(token);
    return this.#token;
  }

  /** Why there is no new token for the next attempt: the refusal, or the failure to fetch one; null = there is one. */
  async #refreshToken(refused: string, refusal: QuoinError): Promise<QuoinError | null> {
    try {
      return (await this.#within(this.#context.tokens.refresh(refused))) === undefined ? refusal : null;
    } catch (thrown) {
      return this.#conclude(QuoinError.from(thrown));
    }
  }

  /** Ends early when the client is closed: the next attempt then fails for that reason. */
  async #pause(durationMs: number): Promise<void> {
    const { runtime, pool } = this.#context;
    const signal = this.#signal;
    try {
      await runtime.sleep(durationMs, signal === undefined ? pool.closing : AbortSignal.any([signal, pool.closing]));
    } catch (thrown) {
      if (signal?.aborted === true) {
        throw this.#conclude(cancelled(signal));
      }
      if (!pool.closed) {
        throw thrown;
      }
    }
  }

  /** Waits for work that other operations may share; the work continues if this operation stops waiting. */
  #within<Result>(work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const signal = this.#signal;
      const timeout = AbortSignal.timeout(Math.max(0, Math.ceil(this.#remainingMs())));
      const onTimeout = () => reject(notSent("DEADLINE_EXCEEDED", "the deadline passed while waiting for a token"));
      const onAbort = () => reject(cancelled(signal));
      timeout.addEventListener("abort", onTimeout, { once: true });
      signal?.addEventListener("abort", onAbort, { once: true });
      if (signal?.aborted === true) {
        onAbort();
      }
      work.then(resolve, reject).finally(() => {
        timeout.removeEventListener("abort", onTimeout);
        signal?.removeEventListener("abort", onAbort);
      });
    });
  }

  #remainingMs(): number {
    return this.#deadlineMs - this.#context.runtime.monotonicMs();
  }

  /** The error with the certain outcome of all attempts: only a decided answer settles an unknown outcome. */
  #conclude(error: QuoinError): QuoinError {
    const settled = DECIDED_CODES.has(error.code) || error.reason === "QUOTA";
    const outcome = this.#outcome === "unknown" && !settled ? "unknown" : error.outcome;
    return error.with({ outcome, requestId: this.#requestId });
  }
}

function notSent(code: "CANCELLED" | "DEADLINE_EXCEEDED", message: string): QuoinError {
  const reason = code === "DEADLINE_EXCEEDED" ? "DEADLINE" : "";
  return new QuoinError({ code, reason, outcome: "not-executed", message });
}

function cancelled(signal: AbortSignal | undefined): QuoinError {
  return notSent("CANCELLED", "the operation was cancelled").with({ cause: signal?.reason });
}
