/**
 * Serves the streams of a hub in turns of the event loop: watches, and followers of event logs.
 *
 * A turn is short: it serves a bounded number of streams for a bounded time, and the others wait for the next turn
 * (S44). The order is fair, because a stream that was served and needs more goes to the end of the line. A stream has
 * at most one message in flight. So a slow stream costs no memory and delays no other (S38).
 *
 * The scheduler also checks the rights of every stream from time to time (S39), and ends all streams when the member
 * serves another replica, or none, or an old state. The hub decides what a stream gets and how it ends.
 */

import { mark } from "../primitives/index.ts";
import { CoordinationError, type StateReader } from "../state/index.ts";

/** The replica with the state that the streams read. */
export interface StreamedReplica {
  readonly state: StateReader;
  status(): { readonly leaderId: number; readonly lagMs: number };
}

/** What a hub needs of the replica while it has streams. */
export interface StreamSource<Replica> {
  readonly replica: Replica;
  /** Stops the callbacks of the replica. */
  readonly release: () => void;
}

export interface Stream {
  /** A message is in flight: the hub sends nothing else until it is taken. */
  readonly isSending: boolean;
}

/** What a hub does for its scheduler. */
export interface StreamHub<Source extends StreamSource<StreamedReplica>, Served extends Stream> {
  /** Begins to read from a replica, and calls `arm` of the scheduler whenever there may be something new. */
  begin(replica: Source["replica"]): Source;
  /** Reads what is new, within the limits of a turn, and queues the streams that it concerns. */
  announce(source: Source): void;
  /** Whether there is more to announce. */
  hasMore(source: Source): boolean;
  /** Sends the next message of the stream, if there is one. */
  serve(source: Source, stream: Served): void;
  /** Called at each tick of the timer, for work that is due by time. */
  onTick(source: Source): void;
  /** Raises the refusal, a CoordinationError, if the stream may no longer see what it reads. */
  readonly recheck: (source: Source, stream: Served) => void;
  /** Removes the stream from the scheduler and ends it. */
  dismiss(stream: Served, error: CoordinationError): void;
}

export interface StreamLimits {
  /** Milliseconds of work in one turn of the event loop, and streams served in it. */
  readonly turnMs: number;
  readonly servedPerTurn: number;
  /**
   * The hub checks every stream this often, in milliseconds: a stream ends within a second after its access is revoked
   * (S39).
   */
  readonly recheckMs: number;
  /** A member sends nothing after so many milliseconds without a leader, or while it lags so far behind in applying. */
  readonly staleMs: number;
}

export const DEFAULT_STREAM_LIMITS: StreamLimits = { turnMs: 4, servedPerTurn: 256, recheckMs: 500, staleMs: 1_000 };

export interface StreamSchedulerOptions<Replica> {
  /** The replica is null while the member serves none. */
  readonly member: { readonly replica: Replica | null };
  readonly clock: { monotonicMs(): number };
  readonly scheduler: {
    immediate(callback: () => void): void;
    every(intervalMs: number, callback: () => void): () => void;
  };
  readonly limits: StreamLimits;
}

/** How often the scheduler looks for due work, in milliseconds; half of the shortest progress interval of a watch. */
const TIMER_MS = 50;

export class StreamScheduler<Source extends StreamSource<StreamedReplica>, Served extends Stream> {
  readonly #options: StreamSchedulerOptions<Source["replica"]>;
  readonly #hub: StreamHub<Source, Served>;
  /** The reason why streams of a replica end that the member serves no longer. */
  readonly #replicaGoneReason: string;
  /** In the order of their last checks, the oldest check first. */
  readonly #streams = new Set<Served>();
  /** Streams to serve, in this order. */
  readonly #queue = new Set<Served>();
  /** Streams to end, and why. */
  readonly #ending = new Map<Served, CoordinationError>();
  #source: Source | null = null;
  #stopTimer = (): void => undefined;
  /** When the replica was last seen with a leader, in monotonic milliseconds. */
  #leaderSeenMs = 0;
  #isArmed = false;
  #isDraining = false;

  constructor(
    options: StreamSchedulerOptions<Source["replica"]>,
    hub: StreamHub<Source, Served>,
    gone = "this member serves no cluster at the moment",
  ) {
    this.#options = options;
    this.#hub = hub;
    this.#replicaGoneReason = gone;
  }

  /** The current streams, the one with the oldest check first. */
  get streams(): ReadonlySet<Served> {
    return this.#streams;
  }

  /** Number of streams in the line of the next turns. */
  get queued(): number {
    return this.#queue.size;
  }

  /** What the streams read from; null without streams. */
  get source(): Source | null {
    return this.#source;
  }

  /** The replica that a new stream would read from. Raises SHUTTING_DOWN and NO_LEADER. */
  requireReplica(): Source["replica"] {
    if (this.#isDraining) {
      throw shuttingDown();
    }
    const { replica } = this.#options.member;
    if (replica === null) {
      throw new CoordinationError("NO_LEADER", "this member serves no cluster at the moment");
    }
    return replica;
  }

  /** Reads from this replica from now on; ends the streams of another one. The caller must then add a stream. */
  attach(replica: Source["replica"]): Source {
    if (this.#source?.replica === replica) {
      return this.#source;
    }
    for (const stream of this.#streams) {
      this.#hub.dismiss(stream, this.#replicaGone());
    }
    const source = this.#hub.begin(replica);
    this.#stopTimer = this.#options.scheduler.every(TIMER_MS, () => this.#onTimer());
    this.#leaderSeenMs = this.#options.clock.monotonicMs();
    this.#source = source;
    return source;
  }

  /** Adds a stream, which is served in one of the next turns. */
  add(stream: Served): void {
    this.#streams.add(stream);
    this.enqueue(stream);
  }

  remove(stream: Served): void {
    this.#streams.delete(stream);
    this.#queue.delete(stream);
    this.#ending.delete(stream);
    if (this.#streams.size === 0 && this.#source !== null) {
      this.#source.release();
      this.#stopTimer();
      this.#source = null;
    }
  }

  /** There may be something to send to the stream. */
  enqueue(stream: Served): void {
    if (this.#streams.has(stream) && !stream.isSending && !this.#ending.has(stream)) {
      this.#queue.add(stream);
      this.arm();
    }
  }

  /** Schedules a turn. */
  arm(): void {
    if (!this.#isArmed && this.#source !== null) {
      this.#isArmed = true;
      this.#options.scheduler.immediate(() => this.#turn());
    }
  }

  /** Returns the result of the check. If it raises a refusal, ends the stream with it and returns null. */
  checked<Value>(source: Source, stream: Served, check: (source: Source, stream: Served) => Value): Value | null {
    try {
      return check(source, stream);
    } catch (error) {
      if (!(error instanceof CoordinationError)) {
        throw error;
      }
      this.#hub.dismiss(stream, error);
      return null;
    }
  }

  /** Ends all streams in the next turns, and refuses new ones. */
  drain(): void {
    this.#isDraining = true;
    this.#endAll(shuttingDown());
  }

  #turn(): void {
    this.#isArmed = false;
    const { clock, limits } = this.#options;
    const endMs = clock.monotonicMs() + limits.turnMs;
    let left = limits.servedPerTurn;
    const goesOn = () => left-- > 0 && clock.monotonicMs() < endMs;
    for (const [stream, error] of this.#ending) {
      if (!goesOn()) {
        break;
      }
      this.#hub.dismiss(stream, error);
    }
    const source = this.#source;
    if (source === null) {
      return;
    }
    this.#hub.announce(source);
    for (const stream of this.#queue) {
      if (!goesOn()) {
        break;
      }
      this.#queue.delete(stream);
      this.#hub.serve(source, stream);
    }
    if (this.#queue.size > 0 || this.#ending.size > 0 || this.#hub.hasMore(source)) {
      this.arm();
    }
  }

  #onTimer(): void {
    const source = this.#source;
    if (source === null) {
      return;
    }
    if (this.#options.member.replica !== source.replica) {
      this.#endAll(this.#replicaGone());
      return;
    }
    if (this.#isStale(source)) {
      mark("watch.stale");
      this.#endAll(new CoordinationError("NO_LEADER", "this member has no leader, or lags behind it"));
      return;
    }
    this.#hub.onTick(source);
    this.#recheckSome(source);
  }

  #isStale({ replica }: Source): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const { staleMs } = this.#options.limits;
    const { leaderId, lagMs } = replica.status();
    if (leaderId !== 0) {
      this.#leaderSeenMs = nowMs;
    }
    return nowMs - this.#leaderSeenMs > staleMs || lagMs > staleMs;
  }

  /** Checks the streams with the oldest checks: only a share of them each time, so that the turn stays short. */
  #recheckSome(source: Source): void {
    const count = Math.ceil((this.#streams.size * TIMER_MS) / this.#options.limits.recheckMs);
    for (const stream of [...this.#streams.values().take(count)]) {
      if (this.#streams.delete(stream)) {
        this.#streams.add(stream);
        this.checked(source, stream, this.#hub.recheck);
      }
    }
  }

  /** In later turns, because there may be thousands. */
  #endAll(error: CoordinationError): void {
    for (const stream of this.#streams) {
      this.#ending.set(stream, error);
    }
    this.#queue.clear();
    this.arm();
  }

  #replicaGone(): CoordinationError {
    return new CoordinationError("NO_LEADER", this.#replicaGoneReason);
  }
}

function shuttingDown(): CoordinationError {
  return new CoordinationError("SHUTTING_DOWN", "this member is shutting down; continue at another member");
}
