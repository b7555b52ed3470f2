/**
 * A watch: changes as they happen, every one once and in order, over any number of streams.
 *
 * When a stream ends for want of a member or a leader, or tells nothing for three progress intervals, the watch goes on at
 * another member behind the last revision that it has heard, as often as it takes. It ends when the service refuses to go
 * on: the history from there is not kept any more (CompactedError), or the caller may not read it any more.
 *
 * It is read one batch at a time, and what is not read waits at the member.
 */

import { randomUUID } from "node:crypto";
import { backoffMs, isUnreached, maxAttempts, unreachedPauseMs } from "./backoff.ts";
import { callMetadata } from "./call-metadata.ts";
import { CompactedError } from "./compacted-error.ts";
import { connect } from "./connect.ts";
import { EndableIterator } from "./endable-iterator.ts";
import { type MessageStream, openMessageStream, type StreamMethod } from "./message-stream.ts";
import { assertTimeout, type CallOptions, type OperationContext } from "./operation.ts";
import { QuoinError } from "./quoin-error.ts";
import type { Target } from "./target.ts";

/** Options of every watch. */
export interface WatchOptions extends Omit<CallOptions, "requestId"> {
  /** The first change to tell is the first at or after this revision. Default: what happens from now on. */
  readonly startRevision?: number | undefined;
  /**
   * How often the member is to tell that it has nothing to tell, in milliseconds, 100 to 60,000. After three times this
   * without a message the watch goes on elsewhere, so it must be enough to receive the largest change. Default 1,000.
   */
  readonly progressIntervalMs?: number | undefined;
  /** Whether to hand out batches without changes too, which only tell how far the watch has come. Default false. */
  readonly progress?: boolean | undefined;
  /** Ends the watch: reading it then fails with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
  /** How long the watch may take to be in place, in milliseconds. Default 5,000, as of operations. */
  readonly timeoutMs?: number | undefined;
}

/** Changes that are told together: all of one or more revisions, of which none is ever divided. */
export interface WatchBatch<Event> {
  /** In order; empty = progress. */
  readonly events: readonly Event[];
  /** Everything up to this revision has been told: a later watch that starts at this + 1 misses and repeats nothing. */
  readonly revision: number;
}

/** What the messages of every watch have. */
export interface WatchMessage {
  readonly revision: bigint;
}

/** What a watch asks for. */
export interface WatchSource<Request, Message extends WatchMessage, Event> {
  readonly method: StreamMethod<Request, Message>;
  /** The request for what begins at a revision. */
  readonly request: (startRevision: bigint) => Request;
  readonly events: (message: Message) => Event[];
}

const defaultProgressIntervalMs = 1_000;

/** Intervals without a message after which a stream is given up. */
const silentIntervals = 3;

/** A member without a leader refuses after 3 s: only one that does not answer at all takes longer to begin a stream. */
const openTimeoutMs = 4_000;

/** Reasons for which another member may well serve what this one refuses. */
const passingReasons: ReadonlySet<string> = new Set(["TOO_MANY_STREAMS"]);

/** Opens a watch, and returns it when it is in place. */
export async function openWatch<Request, Message extends WatchMessage, Event>(
  context: OperationContext,
  source: WatchSource<Request, Message, Event>,
  options: WatchOptions,
): Promise<Watch<Event>> {
  assertTimeout(options.timeoutMs ?? context.timeoutMs);
  const ending = new AbortController();
  const streams = new WatchStreams(context, source, options, ending.signal);
  await streams.begin();
  return new Watch(streams.batches(), ending, streams);
}

/**
 * A watch that is in place. `next` raises a CompactedError when it cannot go on without leaving something out, and a
 * QuoinError when the service refuses it, or the signal or the end of the client cancels it.
 */
export class Watch<Event> extends EndableIterator<WatchBatch<Event>> {
  readonly #position: { readonly revision: number };

  /** @param position tells everything up to which revision has been handed out. */
  constructor(
    batches: AsyncGenerator<WatchBatch<Event>, undefined, undefined>,
    ending: AbortController,
    position: { readonly revision: number },
  ) {
    super(batches, ending);
    this.#position = position;
  }

  /** Everything up to this revision has been handed out, whether there were changes or not. */
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
  /** Ends the watch quietly. */
  readonly #ending: AbortSignal;
  /** Whatever ends the watch from this side. */
  readonly #anyEnd: AbortSignal;
  /** Everything up to this revision has been handed out. */
  revision = 0;
  #next: number;
  #stream: MessageStream<Message> | undefined;
  /** That of the stream. */
  #target: Target | undefined;
  /** Where the stream was asked for, and with which token; undefined = it did not get that far. */
  #endpoint: string | undefined;
  #token: string | undefined;
  /** Failures since a stream has told anything but that it is in place. */
  #failures = 0;
  /** Those of them that reached no member. */
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
    this.#silenceMs = silentIntervals * (options.progressIntervalMs || defaultProgressIntervalMs);
    this.#ending = ending;
    const signals = [ending, context.pool.closing, options.signal];
    this.#anyEnd = AbortSignal.any(signals.filter((signal) => signal !== undefined));
    // Also while nobody reads.
    this.#anyEnd.addEventListener("abort", () => this.#leaveStream(), { once: true });
    this.#next = options.startRevision ?? 0;
  }

  /** Puts the watch in place, in as many attempts as an operation has. */
  async begin(): Promise<void> {
    const untilMs = this.#context.runtime.monotonicMs() + (this.#options.timeoutMs ?? this.#context.timeoutMs);
    await this.#message(maxAttempts, untilMs);
    this.revision = this.#next - 1;
  }

  /** The batches, for ever. */
  async *batches(): AsyncGenerator<WatchBatch<Event>, undefined, undefined> {
    for (;;) {
      let events: Event[];
      try {
        events = this.#source.events(await this.#message(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY));
      } catch (error) {
        this.#leaveStream();
        if (this.#ending.aborted) return undefined;
        throw error;
      }
      this.revision = this.#next - 1;
      if (events.length > 0 || this.#options.progress === true) yield { events, revision: this.revision };
    }
  }

  /** The next message, of the stream that there is or of another one. */
  async #message(attemptsMax: number, untilMs: number): Promise<Message> {
    for (;;) {
      try {
        if (this.#stream === undefined) return await this.#open(untilMs);
        const message = await this.#read(this.#silenceMs);
        this.#failures = 0;
        this.#unreached = 0;
        return message;
      } catch (thrown) {
        await this.#prepareNext(QuoinError.from(thrown), attemptsMax, untilMs);
      }
    }
  }

  /** Asks for a stream, and reads the message that tells that it is in place. */
  async #open(untilMs: number): Promise<Message> {
    const { pool, tokens, runtime } = this.#context;
    this.#anyEnd.throwIfAborted();
    this.#endpoint = undefined;
    this.#token = undefined;
    const token = await this.#unlessEnded(tokens.token());
    this.#token = token;
    const target = pool.current();
    this.#endpoint = target.endpoint;
    const leftMs = untilMs - runtime.monotonicMs();
    await connect(target, leftMs, this.#anyEnd);
    const request = this.#source.request(BigInt(this.#next));
    this.#target = target;
    this.#stream = openMessageStream(target, this.#source.method, request, callMetadata(token, randomUUID()));
    return this.#read(Math.min(leftMs, openTimeoutMs));
  }

  /** Reads the next message, and gives the stream up when none comes in time. */
  async #read(silenceMs: number): Promise<Message> {
    const stream = this.#stream;
    if (stream === undefined) throw this.#endError();
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
      if (!isSilent) throw thrown;
      this.#target?.noteSilence(startMs);
      const message = `${this.#endpoint} has told nothing for ${silenceMs} ms`;
      throw new QuoinError({ code: "UNAVAILABLE", message, cause: thrown });
    } finally {
      stopTimer();
    }
  }

  /** Makes ready for another stream, or throws the error when there is to be none. */
  async #prepareNext(error: QuoinError, attemptsMax: number, untilMs: number): Promise<void> {
    this.#leaveStream();
    if (this.#anyEnd.aborted) throw this.#endError();
    const { pool, tokens, runtime } = this.#context;
    this.#failures += 1;
    const isUncounted = isUnreached(error);
    if (isUncounted) this.#unreached += 1;
    if (this.#failures - this.#unreached >= attemptsMax) throw error;
    if (error.code === "UNAUTHENTICATED" && this.#token !== undefined && !this.#isTokenRefreshed) {
      this.#isTokenRefreshed = true;
      if ((await this.#unlessEnded(tokens.refresh(this.#token))) === undefined) throw error;
      return;
    }
    if (!isPassing(error)) throw error.reason === "COMPACTED" ? new CompactedError(error) : error;
    if (this.#endpoint !== undefined) pool.leave(this.#endpoint, error.leaderEndpoint);
    const pauseMs = (isUncounted ? unreachedPauseMs : backoffMs)(this.#failures, runtime.random());
    if (runtime.monotonicMs() + pauseMs >= untilMs) throw error;
    await this.#unlessEnded(runtime.sleep(pauseMs, this.#anyEnd));
  }

  /** Waits for work that others may share, until the watch ends. */
  #unlessEnded<Result>(work: Result | Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const onEnd = () => reject(this.#endError());
      this.#anyEnd.addEventListener("abort", onEnd, { once: true });
      if (this.#anyEnd.aborted) onEnd();
      Promise.resolve(work)
        .then(resolve, reject)
        .finally(() => this.#anyEnd.removeEventListener("abort", onEnd));
    });
  }

  #leaveStream(): void {
    this.#stream?.cancel();
    this.#stream = undefined;
  }

  #endError(): QuoinError {
    const message = this.#context.pool.closed ? "the client is closed" : "the watch was cancelled";
    return new QuoinError({ code: "CANCELLED", outcome: "not-executed", message, cause: this.#options.signal?.reason });
  }
}

/** Whether another member, or the same one later, may well go on; a connection that ends may cancel its streams. */
function isPassing({ code, reason }: QuoinError): boolean {
  return code === "UNAVAILABLE" || code === "CANCELLED" || passingReasons.has(reason);
}
