/**
 * Tells who follows event logs of their events: each once, in the order of sequences, none left out that is still kept.
 *
 * Applying only says to which logs something was appended; in turns of their own, those who follow one of these are put
 * in line, and served from the state in slices. A follower is one position and at most one message on its way: nothing
 * is kept in memory for it, so a slow one costs none and delays nobody.
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
  /** That of the log, in whose quota it counts. */
  readonly namespace: string;
  /** The first sequence that is told, or the first one above it that is kept. */
  readonly fromSequence: number;
  /** Events of one message at most, and bytes of their payloads and keys. */
  readonly eventsMax: number;
  readonly bytesMax: number;
  /** Monotonic time at which it is over, in milliseconds; infinity = when the follower leaves. */
  readonly untilMs: number;
}

/** Events that follow each other but for those that are not kept any more. */
export interface EventMessage {
  readonly events: readonly LogEvent[];
  readonly log: EventLog;
}

export interface Follower {
  /** Takes the message; calls `taken` once it does not hold it in memory any more, which asks for the next one. */
  send(message: EventMessage, taken: () => void): void;
  /** Raises the refusal, a CoordinationError, unless it may still be told of this log. */
  recheck(log: EventLog): void;
  /** It is over for this reason, or because its time is up; called at most once, and nothing is sent after it. */
  end(error: CoordinationError | null): void;
}

/** What an entry has come to. */
interface Executed {
  readonly outcome: Outcome | null;
}

export interface FollowedReplica {
  readonly state: StateReader;
  status(): { readonly leaderId: number; readonly lagMs: number };
  /** Calls back, in the turn, whenever more is applied, with null if all may be different; until it is ended. */
  observe(listener: (entries: readonly Executed[] | null) => void): () => void;
}

export interface EventHubLimits {
  readonly followersMax: number;
  /** Milliseconds of work in one turn of the event loop, and followers served in it. */
  readonly turnMs: number;
  readonly servedPerTurn: number;
  /** Every follower is checked this often, in milliseconds: what was revoked ends within a second (S39). */
  readonly recheckMs: number;
  /** A member that hears no leader, or lags behind in applying, for so many milliseconds tells nobody anything. */
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
  /** Its replica is null while the member serves none. */
  readonly member: { readonly replica: FollowedReplica | null };
  readonly clock: { monotonicMs(): number };
  readonly scheduler: {
    immediate(callback: () => void): void;
    every(intervalMs: number, callback: () => void): () => void;
  };
  readonly limits: EventHubLimits;
  /** Where the streams of each namespace are counted, those of other hubs of the member included. */
  readonly namespaceStreams: NamespaceStreams;
}

interface Following {
  readonly request: FollowRequest;
  readonly logKey: string;
  readonly follower: Follower;
  /** Everything below this sequence has been told, or is not kept. */
  next: number;
  isSending: boolean;
}

/** What the hub holds of the replica while anybody follows. */
interface Source {
  readonly replica: FollowedReplica;
  /** Ends the callbacks of the replica and of the timer. */
  readonly release: () => void;
  /** When the replica was last seen with a leader, in monotonic milliseconds. */
  ledMs: number;
}

/** How often it is looked for what is due. */
const TIMER_MS = 50;

export class EventHub {
  readonly #options: EventHubOptions;
  /** Those that were checked longest ago come first. */
  readonly #all = new Set<Following>();
  readonly #byLog = new Map<string, Set<Following>>();
  /** Logs to which something was appended; null = all may be different. */
  #touched: Set<string> | null = new Set();
  /** Who is to be served, in this order. */
  readonly #line = new Set<Following>();
  #source: Source | null = null;
  #isArmed = false;
  #isDraining = false;

  constructor(options: EventHubOptions) {
    this.#options = options;
  }

  /** Followers at the moment. */
  get size(): number {
    return this.#all.size;
  }

  /**
   * Begins to tell of a log. Whether there is one is seen in the first turn.
   *
   * @returns what must be called once the follower leaves, for whatever reason.
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

  /** Ends all following, and begins no more. */
  drain(): void {
    this.#isDraining = true;
    this.#endAll(shuttingDown());
  }

  /** The replica to read from, from now on if it is another one than before. */
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

  /** On the path of applying: notes which logs have changed, and no more. */
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

  /** Puts in line who follows a log that has changed. */
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
    // What is not kept any more cannot be told.
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

  /** The log, if it is there and the follower may be told of it; else it is over. */
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
      this.#endAll(new CoordinationError("NO_LEADER", "this member hears no leader, or cannot keep up with it"));
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

/** What may concern who follows a log. */
function isAboutEvents(answer: {
  readonly kind: string;
}): answer is { readonly kind: "append-events" | "delete-log"; readonly logId: Uint8Array } {
  return answer.kind === "append-events" || answer.kind === "delete-log";
}

function shuttingDown(): CoordinationError {
  return new CoordinationError("SHUTTING_DOWN", "this member is shutting down; go on at another one");
}

function noReplica(): CoordinationError {
  return new CoordinationError("NO_LEADER", "this member serves no cluster at the moment");
}
