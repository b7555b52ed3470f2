/**
 * A watch: changes as they happen, each once and in order, over any number of streams.
 *
 * If a stream ends because there is no member or no leader, or is silent for three progress intervals, the watch
 * continues on another member after its last revision, as often as necessary. It ends if the service refuses to
 * continue: the history from there is no longer kept (CompactedError), or the caller has lost its access.
 *
 * It is read one batch at a time, and unread changes wait at the member.
 */

import { randomUUID } from "node:crypto";
import {
  type AttemptTrace,
  assertTraceparent,
  type CallOptions,
  callMetadata,
  EndableIterator,
  type MessageStream,
  type OperationContext,
  type OperationTrace,
  openMessageStream,
  type StreamMethod,
  tracedCall,
  traceOperation,
  UNTRACED,
} from "../calls/index.ts";
import { CompactedError, QuoinError } from "../errors/index.ts";
import { flag, httpCallRules, timeoutField, whole } from "../options/index.ts";
import { ATTEMPTS_MAX, backoffMs, connect, isUnreached, type Target, unreachedPauseMs } from "../transport/index.ts";

/** Options of every watch. */
export interface WatchOptions extends Omit<CallOptions, "requestId"> {
  /** The watch begins with the first change at or after this revision. Default: changes from now on. */
  readonly startRevision?: number | undefined;
  /**
   * How often the member reports progress without changes, in milliseconds, 100 to 60,000. After three intervals
   * without a message the watch continues elsewhere, so an interval must be long enough to receive the largest change.
   * Default 1,000.
   */
  readonly progressIntervalMs?: number | undefined;
  /** Whether to yield batches without changes too, which only report the position of the watch. Default false. */
  readonly progress?: boolean | undefined;
  /** Ends the watch: reading it then fails with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
  /** How long establishing the watch may take, in milliseconds. Default 5,000, as for operations. */
  readonly timeoutMs?: number | undefined;
}

/** The rules for the options of every watch. */
export const watchRules = {
  ...httpCallRules,
  startRevision: whole,
  progressIntervalMs: whole,
  progress: flag,
};

/** Changes that come together: all changes of one or more revisions; a revision is never divided. */
export interface WatchBatch<Event> {
  /** In order; empty = progress. */
  readonly events: readonly Event[];
  /**
   * The watch has delivered everything up to this revision: a later watch that starts at this + 1 misses and repeats
   * nothing.
   */
  readonly revision: number;
}

/** The common fields of the messages of every watch. */
export interface WatchMessage {
  readonly revision: bigint;
}

/** The request of a watch. */
export interface WatchSource<Request, Message extends WatchMessage, Event> {
  readonly method: StreamMethod<Request, Message>;
  /** The request that starts at a revision. */
  readonly request: (startRevision: bigint) => Request;
  readonly events: (message: Message) => Event[];
}

const DEFAULT_PROGRESS_INTERVAL_MS = 1_000;

/** Intervals without a message after which a stream is abandoned. */
const SILENT_INTERVALS = 3;

/**
 * A member without a leader refuses after 3 s: only a member that does not answer at all takes longer to begin a
 * stream.
 */
const OPEN_TIMEOUT_MS = 4_000;

/** Reasons for which another member may still serve the watch. */
const PASSING_REASONS: ReadonlySet<string> = new Set(["TOO_MANY_STREAMS"]);

/** Opens a watch, and returns it when it is established. */
export async function openWatch<Request, Message extends WatchMessage, Event>(
  context: OperationContext,
  source: WatchSource<Request, Message, Event>,
  options: WatchOptions,
): Promise<Watch<Event>> {
  timeoutField("timeoutMs", options.timeoutMs ?? context.timeoutMs);
  assertTraceparent(options.traceparent);
  const ending = new AbortController();
  const streams = new WatchStreams(context, source, options, ending.signal);
  await streams.begin();
  return new Watch(streams.batches(), ending, streams);
}

/**
 * An established watch. `next` raises a CompactedError if it cannot continue without leaving changes out, and a
 * QuoinError if the service refuses it, or if the signal or the end of the client cancels it.
 */
export class Watch<Event> extends EndableIterator<WatchBatch<Event>> {
  readonly #position: { readonly revision: number };

  /** @param position the revision up to which everything was delivered. */
  constructor(
    batches: AsyncGenerator<WatchBatch<Event>, undefined, undefined>,
    ending: AbortController,
    position: { readonly revision: number },
  ) {
    super(batches, ending);
    this.#position = position;
  }

  /** Everything up to this revision has been delivered, with or without changes. */
  get revision(): number {
    return this.#position.revision;
  }
}

/** One stream after the other. */
class WatchStreams<Request, Message extends WatchMessage, Event> {
  readonly #context: OperationContext;
  readonly #source: WatchSource<Request, Message, Event>;
  readonly #options: WatchOptions;
  readonly #silenceMs: number;
  /** Ends the watch without an error. */
  readonly #ending: AbortSignal;
  /** Everything that ends the watch from this side. */
  readonly #anyEnd: AbortSignal;
  /** Everything up to this revision has been delivered. */
  revision = 0;
  #next: number;
  #stream: MessageStream<Message> | undefined;
  /** The target of the stream. */
  #target: Target | undefined;
  /** From the request for the watch to its end. */
  #trace: OperationTrace = UNTRACED;
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

  constructor(
    context: OperationContext,
    source: WatchSource<Request, Message, Event>,
    options: WatchOptions,
    ending: AbortSignal,
  ) {
    this.#context = context;
    this.#source = source;
    this.#options = options;
    this.#silenceMs = SILENT_INTERVALS * (options.progressIntervalMs || DEFAULT_PROGRESS_INTERVAL_MS);
    this.#ending = ending;
    const signals = [ending, context.pool.closing, options.signal];
    this.#anyEnd = AbortSignal.any(signals.filter((signal) => signal !== undefined));
    // Also while there is no reader.
    this.#anyEnd.addEventListener("abort", () => this.#end(null), { once: true });
    this.#next = options.startRevision ?? 0;
  }

  /** Establishes the watch, with as many attempts as an operation has. */
  async begin(): Promise<void> {
    const untilMs = this.#context.runtime.monotonicMs() + (this.#options.timeoutMs ?? this.#context.timeoutMs);
    const { method, request } = this.#source;
    this.#trace = await traceOperation(this.#options.traceparent, () => tracedCall(method.path, request(0n)));
    try {
      await this.#message(ATTEMPTS_MAX, untilMs);
    } catch (thrown) {
      this.#end(QuoinError.from(thrown));
      throw thrown;
    }
    this.revision = this.#next - 1;
  }

  /** The batches, without an end. */
  async *batches(): AsyncGenerator<WatchBatch<Event>, undefined, undefined> {
    for (;;) {
      let events: Event[];
      try {
        events = this.#source.events(await this.#message(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY));
      } catch (error) {
        this.#end(QuoinError.from(error));
        if (this.#ending.aborted) {
          return undefined;
        }
        throw error;
      }
      this.revision = this.#next - 1;
      if (events.length > 0 || this.#options.progress === true) {
        yield { events, revision: this.revision };
      }
    }
  }

  /** The next message, of the current or of a new stream. */
  async #message(attemptsMax: number, untilMs: number): Promise<Message> {
    for (;;) {
      try {
        if (this.#stream === undefined) {
          return await this.#open(untilMs);
        }
        const message = await this.#read(this.#silenceMs);
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
    const token = await this.#unlessEnded(tokens.token());
    this.#token = token;
    const target = pool.current();
    this.#endpoint = target.endpoint;
    const attempt = this.#trace.attempt(target.endpoint);
    this.#attempt = attempt;
    const leftMs = untilMs - runtime.monotonicMs();
    await connect(target, leftMs, this.#anyEnd);
    const request = this.#source.request(BigInt(this.#next));
    this.#target = target;
    const metadata = callMetadata(token, randomUUID(), attempt.headers);
    this.#stream = openMessageStream(target, this.#source.method, request, metadata);
    return this.#read(Math.min(leftMs, OPEN_TIMEOUT_MS));
  }

  /** Reads the next message, and abandons the stream if none comes in time. */
  async #read(silenceMs: number): Promise<Message> {
    const stream = this.#stream;
    if (stream === undefined) {
      throw this.#endError();
    }
    const startMs = performance.now();
    let isSilent = false;
    const stopTimer = this.#context.runtime.after(silenceMs, () => {
      isSilent = true;
      stream.cancel();
    });
    try {
      const message = await stream.next();
      this.#target?.noteAnswer();
      this.#isTokenRefreshed = false;
      this.#next = Math.max(this.#next, Number(message.revision) + 1);
      return message;
    } catch (thrown) {
      if (!isSilent) {
        throw thrown;
      }
      this.#target?.noteSilence(startMs);
      const message = `${this.#endpoint} has sent nothing for ${silenceMs} ms`;
      throw new QuoinError({ code: "UNAVAILABLE", message, cause: thrown });
    } finally {
      stopTimer();
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
      if ((await this.#unlessEnded(tokens.refresh(this.#token))) === undefined) {
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

  /** Waits for work that others may share, until the watch ends. */
  #unlessEnded<Result>(work: Result | Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const onEnd = () => reject(this.#endError());
      this.#anyEnd.addEventListener("abort", onEnd, { once: true });
      if (this.#anyEnd.aborted) {
        onEnd();
      }
      Promise.resolve(work)
        .then(resolve, reject)
        .finally(() => this.#anyEnd.removeEventListener("abort", onEnd));
    });
  }

  /** Ends the watch; null = from this side. */
  #end(error: QuoinError | null): void {
    this.#leaveStream(error);
    this.#trace.end(error);
  }

  #leaveStream(error: QuoinError | null): void {
    this.#stream?.cancel();
    this.#stream = undefined;
    this.#attempt?.end(error);
    this.#attempt = undefined;
  }

  #endError(): QuoinError {
    const message = this.#context.pool.closed ? "the client is closed" : "the watch was cancelled";
    return new QuoinError({ code: "CANCELLED", outcome: "not-executed", message, cause: this.#options.signal?.reason });
  }
}

/** Whether another member, or the same one later, may continue; a connection that ends may cancel its streams. */
function isPassing({ code, reason }: QuoinError): boolean {
  return code === "UNAVAILABLE" || code === "CANCELLED" || PASSING_REASONS.has(reason);
}
