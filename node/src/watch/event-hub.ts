/**
 * Sends the events of logs to their followers: each event once, in the order of sequences, without leaving out one that
 * is still kept.
 *
 * Applying only notes which logs got new events. In separate turns the hub queues the followers of those logs and
 * serves them from the state in slices. A follower is a position and at most one message in flight. The hub buffers
 * nothing for it, so a slow follower costs no memory and delays no other.
 */

import {
  CoordinationError,
  describeLog,
  type EventLog,
  type LogEvent,
  type Outcome,
  type Principal,
  readEvents,
  type StateReader,
} from "../state/index.ts";
import type { NamespaceStreams } from "./namespace-streams.ts";
import { type OpenStream, type StreamSelection, selectedStreams } from "./open-stream.ts";
import {
  DEFAULT_STREAM_LIMITS,
  type StreamedReplica,
  type StreamHub,
  type StreamLimits,
  StreamScheduler,
  type StreamSchedulerOptions,
  type StreamSource,
} from "./stream-scheduler.ts";

export interface FollowRequest {
  /** 16 bytes. */
  readonly logId: Uint8Array;
  /** Who follows. */
  readonly principal: Principal;
  /** The namespace of the log; the stream counts toward its quota. */
  readonly namespace: string;
  /** The first sequence to send, or else the first kept one above it. */
  readonly fromSequence: number;
  /** Limits of one message: events, and bytes of their payloads and keys. */
  readonly eventsMax: number;
  readonly bytesMax: number;
  /** When the stream ends, in monotonic milliseconds; infinity = when the follower leaves. */
  readonly untilMs: number;
}

/** Consecutive events, except for those that are no longer kept. */
export interface EventMessage {
  readonly events: readonly LogEvent[];
  readonly log: EventLog;
}

export interface Follower {
  /** Takes the message. Calls `taken` when the message is no longer in memory; this requests the next one. */
  send(message: EventMessage, taken: () => void): void;
  /** Raises the refusal, a CoordinationError, if the follower may no longer read this log. */
  recheck(log: EventLog): void;
  /**
   * The stream has ended for this reason; null = its time is up. Called at most once, and nothing is sent afterwards.
   */
  end(error: CoordinationError | null): void;
}

/** The result of one entry. */
interface Executed {
  readonly outcome: Outcome | null;
}

export interface FollowedReplica extends StreamedReplica {
  /**
   * Calls back in the same turn when more is applied; null = anything may have changed. Returns a function that stops
   * this.
   */
  observe(listener: (entries: readonly Executed[] | null) => void): () => void;
}

export interface EventHubLimits extends StreamLimits {
  readonly followersMax: number;
}

export const DEFAULT_EVENT_HUB_LIMITS: EventHubLimits = { ...DEFAULT_STREAM_LIMITS, followersMax: 10_000 };

export interface EventHubOptions extends StreamSchedulerOptions<FollowedReplica> {
  readonly limits: EventHubLimits;
  /** Counts the streams of each namespace, for all hubs of the member. */
  readonly namespaceStreams: NamespaceStreams;
}

const NO_PREFIX = new Uint8Array(0);

interface Following {
  /** Counts the streams of this process. */
  readonly number: number;
  /** In monotonic milliseconds. */
  readonly openedMs: number;
  readonly request: FollowRequest;
  readonly logKey: string;
  readonly follower: Follower;
  /** Everything below this sequence was sent or is no longer kept. */
  next: number;
  isSending: boolean;
}

/** What the hub needs of the replica while there are followers. */
interface Source extends StreamSource<FollowedReplica> {
  /** Logs that got new events; null = any log may have changed. */
  touched: Set<string> | null;
}

export class EventHub {
  readonly #options: EventHubOptions;
  readonly #scheduler: StreamScheduler<Source, Following>;
  readonly #byLog = new Map<string, Set<Following>>();

  constructor(options: EventHubOptions) {
    this.#options = options;
    const hub: StreamHub<Source, Following> = {
      begin: (replica) => this.#begin(replica),
      announce: (source) => this.#announce(source),
      // One turn announces everything.
      hasMore: () => false,
      serve: (source, following) => this.#serve(source, following),
      onTick: () => this.#endOverdue(),
      recheck: logOf,
      dismiss: (following, error) => this.#dismiss(following, error),
    };
    this.#scheduler = new StreamScheduler(options, hub);
  }

  /** How many followers there are now. */
  get size(): number {
    return this.#scheduler.streams.size;
  }

  /**
   * Begins to follow a log. The hub checks in the first turn whether the log exists.
   *
   * @returns a function that the caller must call when the follower leaves, for whatever reason.
   * @throws CoordinationError TOO_MANY_STREAMS, QUOTA, SHUTTING_DOWN, NO_LEADER
   */
  open(request: FollowRequest, follower: Follower): () => void {
    const replica = this.#scheduler.requireReplica();
    const { followersMax } = this.#options.limits;
    if (this.size >= followersMax) {
      throw new CoordinationError("TOO_MANY_STREAMS", `this member serves ${followersMax} followers already`);
    }
    const leave = this.#options.namespaceStreams.enter(replica.state, request.namespace);
    this.#scheduler.attach(replica);
    const logKey = request.logId.toHex();
    const following = {
      number: this.#options.namespaceStreams.takeNumber(),
      openedMs: this.#options.clock.monotonicMs(),
      request,
      logKey,
      follower,
      next: request.fromSequence,
      isSending: false,
    };
    this.#byLog.set(logKey, (this.#byLog.get(logKey) ?? new Set()).add(following));
    this.#scheduler.add(following);
    return () => {
      leave();
      this.#remove(following);
    };
  }

  /** The selected streams, in the order of their numbers. */
  openStreams(selection: StreamSelection): OpenStream[] {
    const source = this.#scheduler.source;
    if (source === null) {
      return [];
    }
    const nowMs = this.#options.clock.monotonicMs();
    return selectedStreams(this.#scheduler.streams, selection).map(({ number, openedMs, request, next, isSending }) => {
      const { namespace, principal, logId, fromSequence } = request;
      const delivered = next - 1;
      return {
        number,
        about: "event",
        namespace,
        prefix: NO_PREFIX,
        isExact: false,
        logId,
        principal,
        openMs: nowMs - openedMs,
        start: fromSequence,
        delivered,
        isSending,
        behind: Math.max(0, lastSequenceOf(source.replica.state, logId) - delivered),
      };
    });
  }

  /** Ends all streams in the next turns, and refuses new ones. */
  drain(): void {
    this.#scheduler.drain();
  }

  #begin(replica: FollowedReplica): Source {
    const touched: Source["touched"] = new Set();
    const source: Source = { replica, touched, release: replica.observe((entries) => this.#note(source, entries)) };
    return source;
  }

  /** On the path of applying: notes only which logs have changed. */
  #note(source: Source, entries: readonly Executed[] | null): void {
    if (entries === null) {
      source.touched = null;
      this.#scheduler.arm();
      return;
    }
    for (const { outcome } of entries) {
      const answer = outcome?.answer;
      if (answer === undefined || !("kind" in answer)) {
        continue;
      }
      if (isAboutEvents(answer)) {
        source.touched?.add(answer.logId.toHex());
        this.#scheduler.arm();
      } else if (answer.kind === "delete-namespace") {
        source.touched = null;
        this.#scheduler.arm();
      }
    }
  }

  #remove(following: Following): void {
    const others = this.#byLog.get(following.logKey);
    others?.delete(following);
    if (others?.size === 0) {
      this.#byLog.delete(following.logKey);
    }
    this.#scheduler.remove(following);
  }

  /** Queues the followers of the logs that have changed. */
  #announce(source: Source): void {
    const { touched } = source;
    source.touched = new Set();
    for (const logKey of touched ?? this.#byLog.keys()) {
      for (const following of this.#byLog.get(logKey) ?? []) {
        this.#scheduler.enqueue(following);
      }
    }
  }

  #serve(source: Source, following: Following): void {
    const { request, follower } = following;
    const log = this.#scheduler.checked(source, following, logOf);
    if (log === null || log.lastSequence < following.next) {
      return;
    }
    const events = readEvents(source.replica.state, log, following.next, request);
    // Skip what is no longer kept.
    following.next = (events.at(-1)?.sequence ?? log.lastSequence) + 1;
    if (events.length === 0) {
      return;
    }
    following.isSending = true;
    follower.send({ events, log }, () => {
      following.isSending = false;
      this.#scheduler.enqueue(following);
    });
  }

  /** Ends the streams whose time is up. */
  #endOverdue(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const following of this.#scheduler.streams) {
      if (following.request.untilMs <= nowMs) {
        this.#dismiss(following, null);
      }
    }
  }

  #dismiss(following: Following, error: CoordinationError | null): void {
    this.#remove(following);
    following.follower.end(error);
  }
}

/** The last sequence of the log; 0 if it does not exist any more. */
function lastSequenceOf(state: StateReader, logId: Uint8Array): number {
  try {
    return describeLog(state, logId).lastSequence;
  } catch (error) {
    if (error instanceof CoordinationError) {
      return 0;
    }
    throw error;
  }
}

/** The log. Raises the refusal if it does not exist, or if the follower may not read it. */
function logOf({ replica }: Source, { request, follower }: Following): EventLog {
  const log = describeLog(replica.state, request.logId);
  follower.recheck(log);
  return log;
}

/** Whether the result can concern followers of a log. */
function isAboutEvents(answer: {
  readonly kind: string;
}): answer is { readonly kind: "append-events" | "delete-log"; readonly logId: Uint8Array } {
  return answer.kind === "append-events" || answer.kind === "delete-log";
}
