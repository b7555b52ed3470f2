/**
 * Requests to the HTTP interface of a cluster: up to four attempts within one deadline, on one member after the other.
 * Attempts that reach no member do not count.
 *
 * A request that was certainly not executed is retried: on the next member, or after the pause that a rate limit
 * requires. A request that may have been executed is retried only if that is safe: if it only reads, or if it has an
 * idempotency key. A refused token is replaced once.
 */

import type { IncomingMessage } from "node:http";
import { type Outcome, QuoinError } from "../errors/index.ts";
import { badField, timeoutField } from "../options/index.ts";
import {
  ATTEMPTS_MAX,
  backoffMs,
  failureOf,
  type HttpAnswer,
  HttpExchange,
  type HttpRequest,
  isPassing,
  isUnreached,
  type Runtime,
  type Tls,
  type TokenSource,
  unreachedPauseMs,
  wholeAnswer,
} from "../transport/index.ts";
import type { CallOptions } from "./operation.ts";
import { assertTraceparent, type OperationTrace, type TracedOperation, traceOperation } from "./tracing.ts";

/** The shared parts of one client's requests. */
export interface HttpContext {
  /** URLs such as `http://127.0.0.1:7401`, at least one. */
  readonly endpoints: readonly string[];
  readonly tls: Tls | undefined;
  readonly tokens: TokenSource;
  readonly runtime: Runtime;
  /** Deadline of requests without their own, in milliseconds. */
  readonly timeoutMs: number;
}

/** Options of every request. */
export type HttpCallOptions = Omit<CallOptions, "requestId">;

/** The request, and whether it may be retried if its outcome is unknown. */
export interface MemberRequest extends HttpRequest {
  readonly isRepeatable: boolean;
}

const STATUS_OK = 200;
const FIRST_STATUS_OF_FAILURE = 300;

/** The members of a cluster, by HTTP. */
export class HttpMembers {
  readonly runtime: Runtime;
  readonly #context: HttpContext;
  readonly #exchange: HttpExchange;
  readonly #closing = new AbortController();
  #current: number;

  /** @throws QuoinError INVALID_ARGUMENT / BAD_FIELD for invalid endpoints. */
  constructor(context: HttpContext) {
    for (const endpoint of context.endpoints) {
      const protocol = URL.parse(endpoint)?.protocol;
      if (protocol !== "http:" && protocol !== "https:") {
        throw badField("httpEndpoints", "must be URLs that begin with http:// or https://");
      }
    }
    if (context.endpoints.length === 0) {
      throw badField("httpEndpoints", "must name at least one URL");
    }
    this.#context = context;
    this.runtime = context.runtime;
    this.#exchange = new HttpExchange(context.tls);
    this.#current = Math.floor(context.runtime.random() * context.endpoints.length);
  }

  /** Deadline of requests without their own, in milliseconds. */
  get timeoutMs(): number {
    return this.#context.timeoutMs;
  }

  /** Aborts when the client is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /**
   * Sends a request until it has a final answer.
   *
   * @throws QuoinError with the outcome over all attempts.
   */
  async request(request: MemberRequest, options: HttpCallOptions = {}): Promise<HttpAnswer> {
    const { timeoutMs = this.#context.timeoutMs, signal, traceparent } = options;
    timeoutField("timeoutMs", timeoutMs);
    assertTraceparent(traceparent);
    const trace = await traceOperation(traceparent, () => tracedRequest(request.method));
    try {
      const answer = await this.#request(request, timeoutMs, signal, trace);
      trace.end(null);
      return answer;
    } catch (thrown) {
      trace.end(QuoinError.from(thrown));
      throw thrown;
    }
  }

  async #request(
    request: MemberRequest,
    timeoutMs: number,
    signal: AbortSignal | undefined,
    trace: OperationTrace,
  ): Promise<HttpAnswer> {
    const deadlineMs = this.runtime.monotonicMs() + timeoutMs;
    let outcome: Outcome = "not-executed";
    let refused = "";
    let counted = 0;
    for (let attempt = 1; ; attempt += 1) {
      const endpoint = this.#endpoint();
      let token = "";
      try {
        token = await this.#context.tokens.token();
        return await this.#tracedAttempt(trace, endpoint, token, request, deadlineMs, signal);
      } catch (thrown) {
        let failure = QuoinError.from(thrown);
        if (failure.outcome === "unknown") {
          outcome = "unknown";
        }
        // Whatever the refusal of this attempt: an earlier one may have been executed, or may still arrive.
        let error = failure.with({ outcome });
        if (!isUnreached(failure)) {
          counted += 1;
        }
        if (counted >= ATTEMPTS_MAX || signal?.aborted === true || this.closing.aborted) {
          throw error;
        }
        if (error.code === "UNAUTHENTICATED" && refused === "" && token !== "") {
          refused = token;
          const missing = await this.#refreshToken(token, failure);
          if (missing === null) {
            continue;
          }
          // Without a new token, the reason of this failure is the missing token.
          failure = missing;
          error = failure.with({ outcome });
        }
        if (!isPassing(failure) || (failure.outcome === "unknown" && !request.isRepeatable)) {
          throw error;
        }
        const pauseMs = (isUnreached(failure) ? unreachedPauseMs : backoffMs)(attempt, this.runtime.random());
        await this.#pause(pauseMs, endpoint, error, deadlineMs, signal);
      }
    }
  }

  /**
   * Opens a stream on the current member, without retries, as one attempt of a trace.
   *
   * @param signal ends the stream.
   * @throws QuoinError if it is refused, or the member does not answer within the deadline of requests.
   */
  async stream(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
    trace: OperationTrace,
  ): Promise<IncomingMessage> {
    const endpoint = this.#endpoint();
    const token = await this.#context.tokens.token();
    const span = trace.attempt(endpoint);
    const opening = new AbortController();
    const stopTimer = this.runtime.after(this.#context.timeoutMs, () => opening.abort());
    try {
      const sent = { ...headers, ...span.headers, authorization: `Bearer ${token}` };
      const request = { method: "GET", path, headers: sent } as const;
      const response = await this.#exchange.open(endpoint, request, AbortSignal.any([signal, opening.signal]));
      if (response.statusCode === STATUS_OK) {
        response.once("close", () => {
          const { errored } = response;
          span.end(errored instanceof Error && !signal.aborted ? QuoinError.from(errored) : null);
        });
        return response;
      }
      throw failureOf(await wholeAnswer(response), endpoint);
    } catch (thrown) {
      const error = QuoinError.from(thrown);
      span.end(signal.aborted ? null : error);
      if (error.code === "UNAUTHENTICATED") {
        await this.#context.tokens.refresh(token);
      }
      throw error;
    } finally {
      stopTimer();
    }
  }

  /** Goes to the next member. */
  leaveMember(): void {
    this.#current = (this.#current + 1) % this.#context.endpoints.length;
  }

  close(): void {
    this.#closing.abort();
    this.#exchange.close();
  }

  async #tracedAttempt(
    trace: OperationTrace,
    endpoint: string,
    token: string,
    request: MemberRequest,
    deadlineMs: number,
    signal: AbortSignal | undefined,
  ): Promise<HttpAnswer> {
    const span = trace.attempt(endpoint);
    try {
      const headers = { ...request.headers, ...span.headers };
      const answer = await this.#attempt(endpoint, token, { ...request, headers }, deadlineMs, signal);
      span.end(null);
      return answer;
    } catch (thrown) {
      span.end(QuoinError.from(thrown));
      throw thrown;
    }
  }

  async #attempt(
    endpoint: string,
    token: string,
    { isRepeatable: _, headers, ...request }: MemberRequest,
    deadlineMs: number,
    signal: AbortSignal | undefined,
  ): Promise<HttpAnswer> {
    const remainingMs = deadlineMs - this.runtime.monotonicMs();
    if (remainingMs <= 0) {
      throw tooLate("not-executed");
    }
    const timeout = AbortSignal.timeout(Math.ceil(remainingMs));
    const ending = AbortSignal.any([timeout, this.closing, ...(signal === undefined ? [] : [signal])]);
    try {
      const sent = { ...request, headers: { ...headers, authorization: `Bearer ${token}` } };
      const answer = await this.#exchange.answer(endpoint, sent, ending);
      if (answer.status < FIRST_STATUS_OF_FAILURE) {
        return answer;
      }
      throw failureOf(answer, endpoint);
    } catch (thrown) {
      const error = QuoinError.from(thrown);
      if (timeout.aborted && error.code === "UNAVAILABLE") {
        throw tooLate(error.outcome);
      }
      if (!ending.aborted || error.code !== "UNAVAILABLE") {
        throw error;
      }
      throw error.with({ code: "CANCELLED", message: "the operation was cancelled", cause: ending.reason });
    }
  }

  /** Why there is no new token for the next attempt: the refusal, or the failure to fetch one; null = there is one. */
  async #refreshToken(refused: string, refusal: QuoinError): Promise<QuoinError | null> {
    try {
      return (await this.#context.tokens.refresh(refused)) === undefined ? refusal : null;
    } catch (thrown) {
      return QuoinError.from(thrown);
    }
  }

  async #pause(
    leastMs: number,
    endpoint: string,
    error: QuoinError,
    deadlineMs: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (this.#endpoint() === endpoint) {
      this.leaveMember();
    }
    const asked = error.code === "RESOURCE_EXHAUSTED" ? (error.retryDelayMs ?? 0) : 0;
    const pauseMs = Math.max(asked, leastMs);
    if (this.runtime.monotonicMs() + pauseMs >= deadlineMs) {
      throw error;
    }
    try {
      await this.runtime.sleep(pauseMs, signal === undefined ? this.closing : AbortSignal.any([signal, this.closing]));
    } catch (thrown) {
      const ended = [signal, this.closing].find((possible) => possible?.aborted === true);
      if (ended === undefined) {
        throw thrown;
      }
      throw error.with({ code: "CANCELLED", message: "the operation was cancelled", cause: ended.reason });
    }
  }

  #endpoint(): string {
    // The index is always within the list, and the constructor requires at least one endpoint.
    return this.#context.endpoints[this.#current]!;
  }
}

/** A request, as its spans describe it: the path may contain names that the application chose. */
export function tracedRequest(method: HttpRequest["method"]): TracedOperation {
  return { name: method, attemptName: method, system: "http", attributes: {} };
}

function tooLate(outcome: Outcome): QuoinError {
  const message = "the request was not answered in time";
  return new QuoinError({ code: "DEADLINE_EXCEEDED", reason: "DEADLINE", outcome, message });
}
