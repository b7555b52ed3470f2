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
  readEvents,
  type StateReader,
} from "../state/index.ts";
import type { NamespaceStreams } from "./namespace-streams.ts";

export interface FollowRequest {
  /** 16 bytes. */
  readonly logId: Uint8Array;
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

export interface FollowedReplica {
  readonly state: StateReader;
  status(): { readonly leaderId: number; readonly lagMs: number };
  /**
   * Calls back in the same turn when more is applied; null = anything may have changed. Returns a function that stops
   * this.
   */
  observe(listener: (entries: readonly Executed[] | null) => void): () => void;
}

export interface EventHubLimits {
  readonly followersMax: number;
  /** Milliseconds of work in one turn of the event loop, and followers served in it. */
  readonly turnMs: number;
  readonly servedPerTurn: number;
  /**
   * The hub checks every follower this often, in milliseconds: a stream ends within a second after its access is
   * revoked (S39).
   */
  readonly recheckMs: number;
  /** A member sends nothing after so many milliseconds without a leader, or while it lags so far behind in applying. */
  readonly staleMs: number;
}

export const DEFAULT_EVENT_HUB_LIMITS: EventHubLimits = {
  followersMax: 10_000,
  turnMs: 4,
  servedPerTurn: 256,
  recheckMs: 500,
  staleMs: 1_000,
};

export interface EventHubOptions {
  /** The replica is null while the member serves none. */
  readonly member: { readonly replica: FollowedReplica | null };
  readonly clock: { monotonicMs(): number };
  readonly scheduler: {
    immediate(callback: () => void): void;
    every(intervalMs: number, callback: () => void): () => void;
  };
  readonly limits: EventHubLimits;
  /** Counts the streams of each namespace, for all hubs of the member. */
  readonly namespaceStreams: NamespaceStreams;
}

interface Following {
  readonly request: FollowRequest;
  readonly logKey: string;
  readonly follower: Follower;
  /** Everything below this sequence was sent or is no longer kept. */
  next: number;
  isSending: boolean;
}

/** What the hub needs of the replica while there are followers. */
interface Source {
  readonly replica: FollowedReplica;
  /** Stops the callbacks of the replica and of the timer. */
  readonly release: () => void;
  /** When the replica was last seen with a leader, in monotonic milliseconds. */
  ledMs: number;
}

/** How often the hub looks for due work, in milliseconds. */
const TIMER_MS = 50;

export class EventHub {
  readonly #options: EventHubOptions;
  /** In the order of their last checks, the oldest check first. */
  readonly #all = new Set<Following>();
  readonly #byLog = new Map<string, Set<Following>>();
  /** Logs that got new events; null = any log may have changed. */
  #touched: Set<string> | null = new Set();
  /** Followers to serve, in this order. */
  readonly #line = new Set<Following>();
  #source: Source | null = null;
  #isArmed = false;
  #isDraining = false;

  constructor(options: EventHubOptions) {
    this.#options = options;
  }

  /** How many followers there are now. */
  get size(): number {
    return this.#all.size;
  }

  /**
   * Begins to follow a log. The hub checks in the first turn whether the log exists.
   *
   * @returns a function that the caller must call when the follower leaves, for whatever reason.
   * @throws CoordinationError TOO_MANY_STREAMS, QUOTA, SHUTTING_DOWN, NO_LEADER
   */
  open(request: FollowRequest, follower: Follower): () => void {
    const { member, limits } = this.#options;
    if (this.#isDraining) {
      throw shuttingDown();
    }
    if (member.replica === null) {
      throw noReplica();
    }
    if (this.#all.size >= limits.followersMax) {
      throw new CoordinationError("TOO_MANY_STREAMS", `this member serves ${limits.followersMax} followers already`);
    }
    const leave = this.#options.namespaceStreams.enter(member.replica.state, request.namespace);
    this.#attach(member.replica);
    const logKey = request.logId.toHex();
    const following = { request, logKey, follower, next: request.fromSequence, isSending: false };
    this.#all.add(following);
    this.#byLog.set(logKey, (this.#byLog.get(logKey) ?? new Set()).add(following));
    this.#enqueue(following);
    return () => {
      leave();
      this.#remove(following);
    };
  }

  /** Ends all streams, and refuses new ones. */
  drain(): void {
    this.#isDraining = true;
    this.#endAll(shuttingDown());
  }

  /** Reads from this replica from now on; ends the streams of another one. */
  #attach(replica: FollowedReplica): void {
    if (this.#source?.replica === replica) {
      return;
    }
    this.#endAll(noReplica());
    const { scheduler, clock } = this.#options;
    const stopObserving = replica.observe((entries) => this.#note(entries));
    const stopTimer = scheduler.every(TIMER_MS, () => this.#onTimer());
    const release = (): void => {
      stopObserving();
      stopTimer();
    };
    this.#source = { replica, release, ledMs: clock.monotonicMs() };
  }

  /** On the path of applying: notes only which logs have changed. */
  #note(entries: readonly Executed[] | null): void {
    if (entries === null) {
      this.#touched = null;
      this.#arm();
      return;
    }
    for (const { outcome } of entries) {
      const answer = outcome?.answer;
      if (answer !== undefined && "kind" in answer && isAboutEvents(answer)) {
        this.#touched?.add(answer.logId.toHex());
        this.#arm();
      }
    }
  }

  #remove(following: Following): void {
    this.#all.delete(following);
    this.#line.delete(following);
    const others = this.#byLog.get(following.logKey);
    others?.delete(following);
    if (others?.size === 0) {
      this.#byLog.delete(following.logKey);
    }
    if (this.#all.size === 0) {
      this.#source?.release();
      this.#source = null;
      this.#touched = new Set();
    }
  }

  #enqueue(following: Following): void {
    if (this.#all.has(following) && !following.isSending) {
      this.#line.add(following);
      this.#arm();
    }
  }

  #arm(): void {
    if (!this.#isArmed && this.#source !== null) {
      this.#isArmed = true;
      this.#options.scheduler.immediate(() => this.#turn());
    }
  }

  #turn(): void {
    this.#isArmed = false;
    const source = this.#source;
    if (source === null) {
      return;
    }
    this.#announce();
    const { clock, limits } = this.#options;
    const endMs = clock.monotonicMs() + limits.turnMs;
    let left = limits.servedPerTurn;
    for (const following of this.#line) {
      if (left-- <= 0 || clock.monotonicMs() >= endMs) {
        break;
      }
      this.#line.delete(following);
      this.#serve(source, following);
    }
    if (this.#line.size > 0) {
      this.#arm();
    }
  }

  /** Queues the followers of the logs that have changed. */
  #announce(): void {
    const touched = this.#touched;
    this.#touched = new Set();
    for (const logKey of touched ?? this.#byLog.keys()) {
      for (const following of this.#byLog.get(logKey) ?? []) {
        this.#enqueue(following);
      }
    }
  }

  #serve({ replica }: Source, following: Following): void {
    const { request, follower } = following;
    const log = this.#logOf(replica, following);
    if (log === null || log.lastSequence < following.next) {
      return;
    }
    const events = readEvents(replica.state, log, following.next, request);
    // Skip what is no longer kept.
    following.next = (events.at(-1)?.sequence ?? log.lastSequence) + 1;
    if (events.length === 0) {
      return;
    }
    following.isSending = true;
    follower.send({ events, log }, () => {
      following.isSending = false;
      this.#enqueue(following);
    });
  }

  /** The log, if it exists and the follower may read it; else ends the stream and returns null. */
  #logOf(replica: FollowedReplica, following: Following): EventLog | null {
    try {
      const log = describeLog(replica.state, following.request.logId);
      following.follower.recheck(log);
      return log;
    } catch (error) {
      if (!(error instanceof CoordinationError)) {
        throw error;
      }
      this.#dismiss(following, error);
      return null;
    }
  }

  #onTimer(): void {
    const source = this.#source;
    if (source === null) {
      return;
    }
    if (this.#options.member.replica !== source.replica) {
      this.#endAll(noReplica());
      return;
    }
    if (this.#isStale(source)) {
      this.#endAll(new CoordinationError("NO_LEADER", "this member has no leader, or lags behind it"));
      return;
    }
    const nowMs = this.#options.clock.monotonicMs();
    for (const following of [...this.#all]) {
      if (following.request.untilMs <= nowMs) {
        this.#dismiss(following, null);
      }
    }
    const count = Math.ceil((this.#all.size * TIMER_MS) / this.#options.limits.recheckMs);
    for (const following of [...this.#all.values().take(count)]) {
      this.#all.delete(following);
      this.#all.add(following);
      this.#logOf(source.replica, following);
    }
  }

  #isStale(source: Source): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const { staleMs } = this.#options.limits;
    const { leaderId, lagMs } = source.replica.status();
    if (leaderId !== 0) {
      source.ledMs = nowMs;
    }
    return nowMs - source.ledMs > staleMs || lagMs > staleMs;
  }

  #endAll(error: CoordinationError): void {
    for (const following of [...this.#all]) {
      this.#dismiss(following, error);
    }
  }

  #dismiss(following: Following, error: CoordinationError | null): void {
    this.#remove(following);
    following.follower.end(error);
  }
}

/** Whether the result can concern followers of a log. */
function isAboutEvents(answer: {
  readonly kind: string;
}): answer is { readonly kind: "append-events" | "delete-log"; readonly logId: Uint8Array } {
  return answer.kind === "append-events" || answer.kind === "delete-log";
}

function shuttingDown(): CoordinationError {
  return new CoordinationError("SHUTTING_DOWN", "this member is shutting down; continue at another member");
}

function noReplica(): CoordinationError {
  return new CoordinationError("NO_LEADER", "this member serves no cluster at the moment");
}
