/**
 * Sends changes to watchers: each change once, in the order of revisions, with no change left out and no revision
 * split.
 *
 * Applying only signals that there is something new. In separate turns the hub reads the changes from the history once
 * for all watchers, and queues each watcher that a change concerns. A watcher is a position and at most one message in
 * flight. When it has taken that message, the hub serves it the following changes: from memory, or from the history if
 * it is far behind. So a slow watcher costs no memory and delays no other. Progress uses the same queue and follows the
 * changes before it (S37, S38).
 */

import { invariant, mark } from "../primitives/index.ts";
import { CoordinationError, completeFrom, readHistoryBounds, type StateReader, scanHistory } from "../state/index.ts";
import type { WatchLimits } from "./limits.ts";
import type { NamespaceStreams } from "./namespace-streams.ts";
import { PrefixIndex } from "./prefix-index.ts";
import { RecentChanges } from "./recent-changes.ts";
import { type SharedChange, type SharedRevision, shared } from "./shared-change.ts";
import type { Subscriber, WatchMessage, WatchRequest } from "./subscriber.ts";
import { Watcher } from "./watcher.ts";

/** The replica with the watched changes. */
export interface WatchedReplica {
  readonly state: StateReader;
  /** Revision of the readable state. */
  readonly revision: number;
  status(): { readonly leaderId: number; readonly lagMs: number };
  /** Calls back in the same turn when more is applied, until the caller calls the returned function. */
  observe(listener: () => void): () => void;
}

export interface WatchStatistics {
  /** Streams, including those that are about to end. */
  readonly streams: number;
  /** Watches that have not yet got all changes that exist for them. */
  readonly catchingUp: number;
  /** Watches in the queue of the next turns. */
  readonly queued: number;
  /** Changes and messages sent since the start. */
  readonly changesSent: number;
  readonly messagesSent: number;
  /** Watches that this member has ended since the start, by reason. */
  readonly ended: ReadonlyMap<string, number>;
}

export interface WatchHubOptions {
  /** The replica is null while the member serves none. */
  readonly member: { readonly replica: WatchedReplica | null };
  readonly clock: { monotonicMs(): number };
  readonly scheduler: {
    immediate(callback: () => void): void;
    every(intervalMs: number, callback: () => void): () => void;
  };
  readonly limits: WatchLimits;
  /** Counts the streams of each namespace, for all hubs of the member. */
  readonly namespaceStreams: NamespaceStreams;
}

/** What the hub needs of the replica while there are watchers. */
interface Source {
  readonly replica: WatchedReplica;
  recent: RecentChanges;
  /** Stops the callbacks of the replica and of the timer. */
  readonly release: () => void;
  /** The hub has read the changes up to this revision and queued their watchers. */
  publishedRevision: number;
  /** When the replica was last seen with a leader, in monotonic milliseconds. */
  ledMs: number;
}

/** How often the hub looks for due work, in milliseconds; half of the shortest progress interval. */
const TIMER_MS = 50;

export class WatchHub {
  readonly #options: WatchHubOptions;
  readonly #limits: WatchLimits;
  /** In the order of their last checks, the oldest check first. */
  readonly #watchers = new Set<Watcher>();
  /** A key and a lock of the same name are watched separately. */
  readonly #indexes = { key: new PrefixIndex<Watcher>(), lock: new PrefixIndex<Watcher>() };
  /** Watchers to serve, in this order. */
  readonly #line = new Set<Watcher>();
  /** Watchers to end, and why. */
  readonly #leaving = new Map<Watcher, CoordinationError>();
  #source: Source | null = null;
  #streams = 0;
  #changesSent = 0;
  #messagesSent = 0;
  /** Watches that this member has ended, by reason. */
  readonly #ended = new Map<string, number>();
  #isArmed = false;
  #isDraining = false;

  constructor(options: WatchHubOptions) {
    this.#options = options;
    this.#limits = options.limits;
  }

  /**
   * Begins a watch, which sends every change from its start on. A start above the applied revision waits for that
   * revision.
   *
   * @returns a function that the caller must call when the stream of the subscriber ends, for whatever reason.
   * @throws CoordinationError COMPACTED, TOO_MANY_STREAMS, QUOTA, SHUTTING_DOWN, NO_LEADER
   */
  open(request: WatchRequest, subscriber: Subscriber): () => void {
    const { replica } = this.#options.member;
    if (this.#isDraining) {
      throw shuttingDown();
    }
    if (replica === null) {
      throw new CoordinationError("NO_LEADER", "this member serves no cluster at the moment");
    }
    const { startRevision } = request;
    const { compactRevision } = readHistoryBounds(replica.state);
    if (startRevision !== 0 && startRevision < compactRevision) {
      throw compacted(startRevision, compactRevision);
    }
    const { streamsMax } = this.#limits;
    if (this.#streams >= streamsMax) {
      throw new CoordinationError("TOO_MANY_STREAMS", `this member serves ${streamsMax} streams already`);
    }
    const leave = this.#options.namespaceStreams.enter(replica.state, request.namespace);
    const { publishedRevision } = this.#attach(replica);
    const next = startRevision === 0 ? replica.revision + 1 : startRevision;
    const watcher = new Watcher(request, subscriber, next, next > publishedRevision, this.#options.clock.monotonicMs());
    this.#watchers.add(watcher);
    this.#indexes[request.about].add(request.namespace, request.prefix, watcher);
    this.#streams++;
    this.#enqueue(watcher);
    return () => {
      this.#streams--;
      leave();
      this.#remove(watcher);
    };
  }

  /** Current and total numbers. */
  get statistics(): WatchStatistics {
    let catchingUp = 0;
    for (const { isLive } of this.#watchers) {
      catchingUp += Number(!isLive);
    }
    const [streams, queued, changesSent] = [this.#streams, this.#line.size, this.#changesSent];
    return { streams, catchingUp, queued, changesSent, messagesSent: this.#messagesSent, ended: this.#ended };
  }

  /** Sends each watch its progress, ends it, and refuses new watches. */
  drain(): void {
    this.#isDraining = true;
    this.#endAll(shuttingDown());
  }

  /** Reads from this replica from now on; ends the watches of another one. */
  #attach(replica: WatchedReplica): Source {
    if (this.#source?.replica === replica) {
      return this.#source;
    }
    for (const watcher of this.#watchers) {
      this.#dismiss(watcher, noReplica());
    }
    const stopObserving = replica.observe(() => this.#arm());
    const stopTimer = this.#options.scheduler.every(TIMER_MS, () => this.#onTimer());
    const { revision } = replica;
    this.#source = {
      replica,
      recent: new RecentChanges(revision + 1, this.#limits.recentBytesMax),
      release: () => {
        stopObserving();
        stopTimer();
      },
      publishedRevision: revision,
      ledMs: this.#options.clock.monotonicMs(),
    };
    return this.#source;
  }

  #remove(watcher: Watcher): void {
    const { about, namespace, prefix } = watcher.request;
    this.#watchers.delete(watcher);
    this.#indexes[about].remove(namespace, prefix, watcher);
    this.#line.delete(watcher);
    this.#leaving.delete(watcher);
    if (this.#watchers.size === 0) {
      this.#source?.release();
      this.#source = null;
    }
  }

  #enqueue(watcher: Watcher): void {
    if (this.#watchers.has(watcher) && !watcher.isSending && !this.#leaving.has(watcher)) {
      this.#line.add(watcher);
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
    const { clock } = this.#options;
    const { turnMs, servedPerTurn } = this.#limits;
    const endMs = clock.monotonicMs() + turnMs;
    let left = servedPerTurn;
    const goesOn = () => left-- > 0 && clock.monotonicMs() < endMs;
    for (const [watcher, error] of this.#leaving) {
      if (!goesOn()) {
        break;
      }
      this.#dismiss(watcher, error);
    }
    const source = this.#source;
    if (source === null) {
      return;
    }
    this.#publish(source);
    for (const watcher of this.#line) {
      if (!goesOn()) {
        break;
      }
      this.#line.delete(watcher);
      this.#serve(source, watcher);
    }
    if (this.#line.size > 0 || this.#leaving.size > 0 || source.publishedRevision < source.replica.revision) {
      this.#arm();
    }
  }

  /** Reads new changes, and queues the watchers that they concern. */
  #publish(source: Source): void {
    const { replica, recent, publishedRevision } = source;
    const { readRevisionsMax, readBytesMax } = this.#limits;
    const { state, revision } = replica;
    if (revision <= publishedRevision) {
      invariant(revision === publishedRevision, "the revision never runs back");
      return;
    }
    const keptFrom = completeFrom(readHistoryBounds(state));
    if (keptFrom > publishedRevision + 1) {
      mark("watch.skipped-by-snapshot");
      this.#skipTo(source, keptFrom);
      return;
    }
    let revisions = 0;
    let bytes = 0;
    let readTo = revision;
    scanHistory(state, publishedRevision + 1, revision, (read) => {
      const published = shared(read);
      recent.add(published);
      this.#announce(published);
      revisions++;
      bytes += published.bytes;
      if (revisions < readRevisionsMax && bytes < readBytesMax) {
        return true;
      }
      readTo = published.revision;
      return false;
    });
    source.publishedRevision = readTo;
  }

  #announce({ revision, changes }: SharedRevision): void {
    for (const { change, name } of changes) {
      this.#indexes[change.about].visit(change.namespace, name, (watcher) => {
        if (watcher.isLive) {
          watcher.fallBehind(revision);
          this.#enqueue(watcher);
        }
      });
    }
  }

  /** A snapshot has brought a history that begins later. A watcher that needs the missing part ends in its turn. */
  #skipTo(source: Source, keptFrom: number): void {
    const firstMissed = source.publishedRevision + 1;
    source.publishedRevision = keptFrom - 1;
    source.recent = new RecentChanges(keptFrom, this.#limits.recentBytesMax);
    for (const watcher of this.#watchers) {
      if (watcher.isLive && watcher.next < keptFrom) {
        watcher.fallBehind(Math.max(firstMissed, watcher.next));
        this.#enqueue(watcher);
      }
    }
  }

  #serve(source: Source, watcher: Watcher): void {
    if (!watcher.isCreated) {
      watcher.isCreated = true;
      this.#send(watcher, { kind: "created", changes: [], revision: watcher.start - 1 });
      return;
    }
    const changes = watcher.isLive ? [] : this.#read(source, watcher);
    if (changes === null) {
      return;
    }
    const revision = watcher.toldRevision(source.publishedRevision);
    if (changes.length > 0) {
      this.#send(watcher, { kind: "changes", changes, revision });
    } else if (this.#isProgressDue(watcher) && revision <= source.publishedRevision) {
      this.#send(watcher, { kind: "progress", changes, revision });
    }
    if (!watcher.isLive) {
      this.#enqueue(watcher);
    }
  }

  /** The next changes for a watcher that is behind. If they are gone, ends the watch and returns null. */
  #read({ replica, recent, publishedRevision }: Source, watcher: Watcher): readonly SharedChange[] | null {
    const { next, request } = watcher;
    const bounds = readHistoryBounds(replica.state);
    if (next < completeFrom(bounds)) {
      mark("watch.compacted");
      this.#dismiss(watcher, compacted(next, bounds.compactRevision));
      return null;
    }
    const { messageBytes, readRevisionsMax, readBytesMax } = this.#limits;
    const changes: SharedChange[] = [];
    const left = { message: messageBytes, revisions: readRevisionsMax, bytes: readBytesMax };
    let readTo = publishedRevision;
    const visit = (revision: SharedRevision): boolean => {
      for (const change of revision.changes) {
        if (concerns(change, request)) {
          changes.push(change);
          left.message -= change.bytes;
        }
      }
      left.revisions--;
      left.bytes -= revision.bytes;
      if (left.message > 0 && left.revisions > 0 && left.bytes > 0) {
        return true;
      }
      readTo = revision.revision;
      return false;
    };
    if (next >= recent.from) {
      recent.visit(next, visit);
    } else {
      mark("watch.read-from-history");
      scanHistory(replica.state, next, publishedRevision, (read) => visit(shared(read)));
    }
    watcher.onRead(readTo, readTo === publishedRevision);
    return changes;
  }

  #send(watcher: Watcher, message: WatchMessage): void {
    this.#messagesSent++;
    this.#changesSent += message.changes.length;
    watcher.isSending = true;
    watcher.toldMs = this.#options.clock.monotonicMs();
    watcher.subscriber.send(message, () => {
      watcher.isSending = false;
      if (!watcher.isLive) {
        this.#enqueue(watcher);
      }
    });
  }

  #isProgressDue({ toldMs, request }: Watcher): boolean {
    return this.#options.clock.monotonicMs() - toldMs >= request.progressIntervalMs;
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
      mark("watch.stale");
      this.#endAll(new CoordinationError("NO_LEADER", "this member has no leader, or lags behind it"));
      return;
    }
    for (const watcher of this.#watchers) {
      if (this.#isProgressDue(watcher)) {
        this.#enqueue(watcher);
      }
    }
    this.#recheckSome();
  }

  #isStale(source: Source): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const { leaderId, lagMs } = source.replica.status();
    if (leaderId !== 0) {
      source.ledMs = nowMs;
    }
    return nowMs - source.ledMs > this.#limits.staleMs || lagMs > this.#limits.staleMs;
  }

  /** Checks the watchers with the oldest checks: only a share of them each time, so that the turn stays short. */
  #recheckSome(): void {
    const count = Math.ceil((this.#watchers.size * TIMER_MS) / this.#limits.recheckMs);
    for (const watcher of [...this.#watchers.values().take(count)]) {
      this.#watchers.delete(watcher);
      this.#watchers.add(watcher);
      try {
        watcher.subscriber.recheck();
      } catch (error) {
        if (!(error instanceof CoordinationError)) {
          throw error;
        }
        this.#dismiss(watcher, error);
      }
    }
  }

  /** In later turns, because there may be thousands. */
  #endAll(error: CoordinationError): void {
    for (const watcher of this.#watchers) {
      this.#leaving.set(watcher, error);
    }
    this.#line.clear();
    this.#arm();
  }

  /** Ends the watch. Sends its progress first, unless the watch was refused. */
  #dismiss(watcher: Watcher, error: CoordinationError): void {
    const revision = watcher.toldRevision(this.#source?.publishedRevision ?? 0);
    this.#ended.set(error.reason, (this.#ended.get(error.reason) ?? 0) + 1);
    const canResume = error.code === "UNAVAILABLE";
    const isTold = watcher.isCreated && revision <= (this.#source?.publishedRevision ?? 0);
    this.#remove(watcher);
    if (!canResume) {
      watcher.subscriber.end(error);
      return;
    }
    if (isTold) {
      watcher.subscriber.send({ kind: "progress", changes: [], revision }, () => undefined);
    }
    const details = new Map([["resume_revision", String(revision + 1)]]);
    watcher.subscriber.end(new CoordinationError(error.reason, error.message, { details }));
  }
}

function concerns({ change, name }: SharedChange, { about, namespace, prefix }: WatchRequest): boolean {
  if (change.about !== about || change.namespace !== namespace || name.length < prefix.length) {
    return false;
  }
  for (let at = 0; at < prefix.length; at++) {
    if (name[at] !== prefix[at]) {
      return false;
    }
  }
  return true;
}

function compacted(revision: number, compactRevision: number): CoordinationError {
  return new CoordinationError(
    "COMPACTED",
    `changes from revision ${revision} on are no longer kept; read the current state, and watch from its revision`,
    { details: new Map([["compact_revision", String(compactRevision)]]) },
  );
}

function shuttingDown(): CoordinationError {
  return new CoordinationError("SHUTTING_DOWN", "this member is shutting down; continue at another member");
}

function noReplica(): CoordinationError {
  return new CoordinationError("NO_LEADER", "this member no longer serves a cluster");
}
