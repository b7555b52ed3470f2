/**
 * A watch: changes as they happen, each once and in order, over any number of streams.
 *
 * If a stream ends because there is no member or no leader, or is silent for three progress intervals, the watch
 * continues on another member after its last revision, as often as necessary. It ends if the service refuses to
 * continue: the history from there is no longer kept (CompactedError), or the caller has lost its access.
 *
 * It is read one batch at a time, and unread changes wait at the member.
 */

import {
  type CallOptions,
  ContinuedStream,
  EndableIterator,
  type OperationContext,
  type StreamMethod,
} from "../calls/index.ts";
import { callRulesWithoutRequestId, flag, timeoutField, whole } from "../options/index.ts";

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
  ...callRulesWithoutRequestId,
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
  /** The first message of a stream. */
  readonly created: boolean;
  /** The rest of its last revision follows. */
  readonly partial: boolean;
  readonly revision: bigint;
}

/** The request of a watch. */
export interface WatchSource<Request, Message extends WatchMessage, Event> {
  readonly method: StreamMethod<Request, Message>;
  readonly namespace: string;
  /** The request that starts at a revision. */
  readonly request: (startRevision: bigint) => Request;
  readonly events: (message: Message) => Event[];
}

const DEFAULT_PROGRESS_INTERVAL_MS = 1_000;

/** Intervals without a message after which a stream is abandoned. */
const SILENT_INTERVALS = 3;

/** Opens a watch, and returns it when it is established. */
export async function openWatch<Request, Message extends WatchMessage, Event>(
  context: OperationContext,
  { events, ...source }: WatchSource<Request, Message, Event>,
  options: WatchOptions,
): Promise<Watch<Event>> {
  const { timeoutMs = context.timeoutMs, startRevision = 0, progressIntervalMs } = options;
  timeoutField("timeoutMs", timeoutMs);
  const ending = new AbortController();
  const stream = new ContinuedStream(
    context,
    {
      ...source,
      title: "watch",
      start: startRevision,
      positionBehind: ({ revision }) => Number(revision) + 1,
      silenceMs: SILENT_INTERVALS * (progressIntervalMs || DEFAULT_PROGRESS_INTERVAL_MS),
    },
    options,
    ending.signal,
  );
  await stream.establish(timeoutMs);
  return new Watch(batchesOf(stream, events, options), ending, stream);
}

async function* batchesOf<Request, Message extends WatchMessage, Event>(
  stream: ContinuedStream<Request, Message>,
  eventsOf: (message: Message) => Event[],
  { progress = false }: WatchOptions,
): AsyncGenerator<WatchBatch<Event>, undefined, undefined> {
  /** Changes of a revision that is not complete. Another stream begins it again. */
  let begun: Event[] = [];
  for await (const message of stream.messages()) {
    const events = message.created || begun.length === 0 ? eventsOf(message) : begun.concat(eventsOf(message));
    begun = message.partial ? events : [];
    if (!message.partial && (events.length > 0 || progress)) {
      yield { events, revision: stream.position - 1 };
    }
  }
  return undefined;
}

/**
 * An established watch. `next` raises a CompactedError if it cannot continue without leaving changes out, and a
 * QuoinError if the service refuses it, or if the signal or the end of the client cancels it.
 */
export class Watch<Event> extends EndableIterator<WatchBatch<Event>> {
  readonly #stream: { readonly position: number };

  /** @param stream the stream of the batches; everything before its position was delivered. */
  constructor(
    batches: AsyncGenerator<WatchBatch<Event>, undefined, undefined>,
    ending: AbortController,
    stream: { readonly position: number },
  ) {
    super(batches, ending);
    this.#stream = stream;
  }

  /** Everything up to this revision has been delivered, with or without changes. */
  get revision(): number {
    return this.#stream.position - 1;
  }
}
