/**
 * A stream of messages that continues at another member: one stream after the other, each from the position behind the
 * last message.
 *
 * If a stream ends because there is no member or no leader, or is silent for too long, the next one begins, as often as
 * necessary. It ends if the service refuses to continue: the history from there is no longer kept (CompactedError), or
 * the caller has lost its access. It is read one message at a time, and unread messages wait at the member.
 */

import { randomUUID } from "node:crypto";
import { CompactedError, QuoinError } from "../errors/index.ts";
import { ATTEMPTS_MAX, backoffMs, connect, isUnreached, type Target, unreachedPauseMs } from "../transport/index.ts";
import { callMetadata } from "./call-metadata.ts";
import { type MessageStream, openMessageStream, type StreamMethod } from "./message-stream.ts";
import type { CallOptions, OperationContext } from "./operation.ts";
import { type AttemptTrace, assertTraceparent, type OperationTrace, tracedCall, traceOperation } from "./tracing.ts";

/** What to request. */
export interface StreamSource<Request, Message> {
  /** What it is, for errors: such as `watch`. */
  readonly title: string;
  readonly method: StreamMethod<Request, Message>;
  /** The namespace, for the trace; undefined = the request names none. */
  readonly namespace?: string | undefined;
  /** The first position: a revision or a sequence. */
  readonly start: number;
  /** The request that begins at a position. */
  readonly request: (position: bigint) => Request | Promise<Request>;
  /** The position behind a message; a smaller one than before is ignored. */
  readonly positionBehind: (message: Message) => number;
  /** How long a stream may be silent, in milliseconds; undefined = as long as its connection lives. */
  readonly silenceMs: number | undefined;
}

/**
 * A member without a leader refuses after 3 s: only a member that does not answer at all takes longer to begin a
 * stream.
 */
const OPEN_TIMEOUT_MS = 4_000;

/** Reasons for which another member, or the same one later, may still serve the stream. */
const PASSING_REASONS: ReadonlySet<string> = new Set(["TOO_MANY_STREAMS", "RATE_LIMITED"]);

/** One stream after the other. */
export class ContinuedStream<Request, Message> {
  readonly #context: OperationContext;
  readonly #source: StreamSource<Request, Message>;
  readonly #options: Pick<CallOptions, "signal" | "traceparent">;
  /** Ends it without an error. */
  readonly #ending: AbortSignal;
  /** Everything that ends it from this side. */
  readonly #anyEnd: AbortSignal;
  #position: number;
  #stream: MessageStream<Message> | undefined;
  /** The target of the stream. */
  #target: Target | undefined;
  /** From the first request to the end; undefined before. */
  #trace: OperationTrace | undefined;
  /** From the attempt to open the stream to the end of the stream. */
  #attempt: AttemptTrace | undefined;
  /** The endpoint and the token of the stream request; undefined = it did not get that far. */
  #endpoint: string | undefined;
  #token: string | undefined;
  /** Failures since a stream last sent more than its first message. */
  #failures = 0;
  /** The number of them that reached no member. */
  #unreached = 0;
  #isTokenRefreshed = false;

  /** @throws QuoinError INVALID_ARGUMENT / BAD_FIELD for an invalid `traceparent`. */
  constructor(
    context: OperationContext,
    source: StreamSource<Request, Message>,
    options: Pick<CallOptions, "signal" | "traceparent">,
    ending: AbortSignal,
  ) {
    assertTraceparent(options.traceparent);
    this.#context = context;
    this.#source = source;
    this.#options = options;
    this.#position = source.start;
    this.#ending = ending;
    const signals = [ending, context.pool.closing, options.signal];
    this.#anyEnd = AbortSignal.any(signals.filter((signal) => signal !== undefined));
    // Also while there is no reader.
    this.#anyEnd.addEventListener("abort", () => this.#end(null), { once: true });
  }

  /** Everything before this position has been delivered. */
  get position(): number {
    return this.#position;
  }

  /** Aborts when this side ends the stream. */
  get anyEnd(): AbortSignal {
    return this.#anyEnd;
  }

  /** Establishes the first stream, with as many attempts as an operation has. */
  async establish(timeoutMs: number): Promise<void> {
    const untilMs = this.#context.runtime.monotonicMs() + timeoutMs;
    await this.#beginTrace();
    try {
      await this.#message(ATTEMPTS_MAX, untilMs);
    } catch (thrown) {
      this.#end(QuoinError.from(thrown));
      throw thrown;
    }
  }

  /** The messages, without an end. */
  async *messages(): AsyncGenerator<Message, undefined, undefined> {
    await this.#beginTrace();
    for (;;) {
      let message: Message;
      try {
        message = await this.#message(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
      } catch (error) {
        this.#end(QuoinError.from(error));
        if (this.#ending.aborted) {
          return undefined;
        }
        throw error;
      }
      yield message;
    }
  }

  async #beginTrace(): Promise<void> {
    const { method, namespace } = this.#source;
    this.#trace ??= await traceOperation(this.#options.traceparent, () => tracedCall(method.path, { namespace }));
  }

  /** The next message, of the current or of a new stream. */
  async #message(attemptsMax: number, untilMs: number): Promise<Message> {
    for (;;) {
      try {
        if (this.#stream === undefined) {
          return await this.#open(untilMs);
        }
        const message = await this.#read(this.#source.silenceMs);
        this.#failures = 0;
        this.#unreached = 0;
        return message;
      } catch (thrown) {
        await this.#prepareNext(QuoinError.from(thrown), attemptsMax, untilMs);
      }
    }
  }

  /** Requests a stream, and reads the message that confirms it. */
  async #open(untilMs: number): Promise<Message> {
    const { pool, tokens, runtime } = this.#context;
    this.#anyEnd.throwIfAborted();
    this.#endpoint = undefined;
    this.#token = undefined;
    const request = await this.#unlessEnded(this.#source.request(BigInt(this.#position)), untilMs);
    const token = await this.#unlessEnded(tokens.token(), untilMs);
    this.#token = token;
    const target = pool.current();
    this.#endpoint = target.endpoint;
    const attempt = this.#trace?.attempt(target.endpoint);
    this.#attempt = attempt;
    const leftMs = untilMs - runtime.monotonicMs();
    await connect(target, leftMs, this.#anyEnd);
    this.#target = target;
    const metadata = callMetadata(token, randomUUID(), attempt?.headers);
    this.#stream = openMessageStream(target, this.#source.method, request, metadata);
    return this.#read(Math.min(leftMs, OPEN_TIMEOUT_MS));
  }

  /** Reads the next message, and abandons the stream if none comes in time. */
  async #read(silenceMs: number | undefined): Promise<Message> {
    const stream = this.#stream;
    if (stream === undefined) {
      throw this.#endError();
    }
    const startMs = performance.now();
    let isSilent = false;
    const onSilence = () => {
      isSilent = true;
      stream.cancel();
    };
    const stopTimer = silenceMs === undefined ? undefined : this.#context.runtime.after(silenceMs, onSilence);
    try {
      const message = await stream.next();
      this.#target?.noteAnswer();
      this.#isTokenRefreshed = false;
      this.#position = Math.max(this.#position, this.#source.positionBehind(message));
      return message;
    } catch (thrown) {
      if (!isSilent) {
        throw thrown;
      }
      this.#target?.noteSilence(startMs);
      const message = `${this.#endpoint} has sent nothing for ${silenceMs} ms`;
      throw new QuoinError({ code: "UNAVAILABLE", message, cause: thrown });
    } finally {
      stopTimer?.();
    }
  }

  /** Prepares another stream, or throws the error if there must be none. */
  async #prepareNext(error: QuoinError, attemptsMax: number, untilMs: number): Promise<void> {
    this.#leaveStream(error);
    if (this.#anyEnd.aborted) {
      throw this.#endError();
    }
    const { pool, tokens, runtime } = this.#context;
    this.#failures += 1;
    const isUncounted = isUnreached(error);
    if (isUncounted) {
      this.#unreached += 1;
    }
    if (this.#failures - this.#unreached >= attemptsMax) {
      throw error;
    }
    if (error.code === "UNAUTHENTICATED" && this.#token !== undefined && !this.#isTokenRefreshed) {
      this.#isTokenRefreshed = true;
      let token: string | undefined;
      try {
        token = await this.#unlessEnded(tokens.refresh(this.#token), untilMs);
      } catch (failure) {
        this.#endpoint = undefined;
        return this.#prepareNext(QuoinError.from(failure), attemptsMax, untilMs);
      }
      if (token === undefined) {
        throw error;
      }
      return;
    }
    if (!isPassing(error)) {
      throw error.reason === "COMPACTED" ? new CompactedError(error) : error;
    }
    if (this.#endpoint !== undefined) {
      pool.leave(this.#endpoint, error.leaderEndpoint);
    }
    const pauseMs = (isUncounted ? unreachedPauseMs : backoffMs)(this.#failures, runtime.random());
    if (runtime.monotonicMs() + pauseMs >= untilMs) {
      throw error;
    }
    await this.#unlessEnded(runtime.sleep(pauseMs, this.#anyEnd));
  }

  /** Waits for work that others may share, until the end, and at most until this time; infinity = no limit. */
  #unlessEnded<Result>(work: Result | Promise<Result>, untilMs = Number.POSITIVE_INFINITY): Promise<Result> {
    const { runtime } = this.#context;
    return new Promise((resolve, reject) => {
      const onLimit = () => {
        const message = "the deadline has passed before the stream was requested";
        reject(new QuoinError({ code: "DEADLINE_EXCEEDED", outcome: "not-executed", message }));
      };
      const leftMs = untilMs - runtime.monotonicMs();
      const stopTimer = leftMs === Number.POSITIVE_INFINITY ? undefined : runtime.after(Math.max(0, leftMs), onLimit);
      const onEnd = () => reject(this.#endError());
      this.#anyEnd.addEventListener("abort", onEnd, { once: true });
      if (this.#anyEnd.aborted) {
        onEnd();
      }
      Promise.resolve(work)
        .then(resolve, reject)
        .finally(() => {
          stopTimer?.();
          this.#anyEnd.removeEventListener("abort", onEnd);
        });
    });
  }

  /** Ends it; null = from this side. */
  #end(error: QuoinError | null): void {
    this.#leaveStream(error);
    this.#trace?.end(error);
  }

  #leaveStream(error: QuoinError | null): void {
    this.#stream?.cancel();
    this.#stream = undefined;
    this.#attempt?.end(error);
    this.#attempt = undefined;
  }

  #endError(): QuoinError {
    const message = this.#context.pool.closed ? "the client is closed" : `the ${this.#source.title} was cancelled`;
    return new QuoinError({ code: "CANCELLED", outcome: "not-executed", message, cause: this.#options.signal?.reason });
  }
}

/** Whether another member, or the same one later, may continue; a connection that ends may cancel its streams. */
function isPassing({ code, reason }: QuoinError): boolean {
  return code === "UNAVAILABLE" || code === "CANCELLED" || PASSING_REASONS.has(reason);
}
