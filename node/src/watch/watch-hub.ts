/**
 * Tells watchers what has changed: each change once, in the order of revisions, nothing left out, no revision split.
 *
 * Applying only says that there is something new; in turns of their own, changes are read from the history, once for all
 * watchers, and each watcher that one of them concerns is put in line. A watcher is one position and at most one message
 * on its way: when that is taken, it is served what followed, from the newest changes in memory, or from the history if
 * it has fallen far behind. So a slow one costs no memory and delays nobody. Progress comes out of the same line, after
 * what was there before it (S37, S38).
 */

import { invariant, mark } from "../raft/index.ts";
import { CoordinationError, completeFrom, readHistoryBounds, type StateReader, scanHistory } from "../state/index.ts";
import type { WatchLimits } from "./limits.ts";
import type { NamespaceStreams } from "./namespace-streams.ts";
import { PrefixIndex } from "./prefix-index.ts";
import { RecentChanges } from "./recent-changes.ts";
import { type SharedChange, type SharedRevision, shared } from "./shared-change.ts";
import type { Subscriber, WatchMessage, WatchRequest } from "./subscriber.ts";
import { Watcher } from "./watcher.ts";

/** The replica whose changes are watched. */
export interface WatchedReplica {
  readonly state: StateReader;
  /** Of the state as it can be read. */
  readonly revision: number;
  status(): { readonly leaderId: number; readonly lagMs: number };
  /** Calls back, in the turn, whenever more is applied; until the returned function is called. */
  observe(listener: () => void): () => void;
}

export interface WatchStatistics {
  /** Streams, those included that are about to end. */
  readonly streams: number;
  /** Watches that have not been told everything that is there for them. */
  readonly catchingUp: number;
  /** Watches that are to be served next. */
  readonly queued: number;
  /** Changes and messages that were sent so far. */
  readonly changesSent: number;
  readonly messagesSent: number;
  /** Watches that were ended so far, by the reason. */
  readonly ended: ReadonlyMap<string, number>;
}

export interface WatchHubOptions {
  /** Its replica is null while the member serves none. */
  readonly member: { readonly replica: WatchedReplica | null };
  readonly clock: { monotonicMs(): number };
  readonly scheduler: {
    immediate(callback: () => void): void;
    every(intervalMs: number, callback: () => void): () => void;
  };
  readonly limits: WatchLimits;
  /** Where the streams of each namespace are counted, those of other hubs of the member included. */
  readonly namespaceStreams: NamespaceStreams;
}

/** What the hub holds of the replica while anybody watches. */
interface Source {
  readonly replica: WatchedReplica;
  recent: RecentChanges;
  /** Ends the callbacks of the replica and of the timer. */
  readonly release: () => void;
  /** Changes up to this revision were read, and who watches them was put in line. */
  publishedRevision: number;
  /** When the replica was last seen with a leader, in monotonic milliseconds. */
  ledMs: number;
}

/** How often it is looked for what is due; half of the shortest interval of progress. */
const TIMER_MS = 50;

export class WatchHub {
  readonly #options: WatchHubOptions;
  readonly #limits: WatchLimits;
  /** Those that were checked longest ago come first. */
  readonly #watchers = new Set<Watcher>();
  /** Keys and locks of one name are watched apart. */
  readonly #indexes = { key: new PrefixIndex<Watcher>(), lock: new PrefixIndex<Watcher>() };
  /** Who is to be served, in this order. */
  readonly #line = new Set<Watcher>();
  /** Who is to be told that it is over, and why. */
  readonly #leaving = new Map<Watcher, CoordinationError>();
  #source: Source | null = null;
  #streams = 0;
  #changesSent = 0;
  #messagesSent = 0;
  /** Watches that this member has ended, by the reason. */
  readonly #ended = new Map<string, number>();
  #isArmed = false;
  #isDraining = false;

  constructor(options: WatchHubOptions) {
    this.#options = options;
    this.#limits = options.limits;
  }

  /**
   * Begins a watch, which sees everything from its start on. A start above what is applied here is waited for.
   *
   * @returns what must be called once the stream of the subscriber is over, for whatever reason.
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

  /** What it does and has done. */
  get statistics(): WatchStatistics {
    let catchingUp = 0;
    for (const { isLive } of this.#watchers) {
      catchingUp += Number(!isLive);
    }
    const [streams, queued, changesSent] = [this.#streams, this.#line.size, this.#changesSent];
    return { streams, catchingUp, queued, changesSent, messagesSent: this.#messagesSent, ended: this.#ended };
  }

  /** Ends all watches with a last sign of progress, and begins no more. */
  drain(): void {
    this.#isDraining = true;
    this.#endAll(shuttingDown());
  }

  /** The replica to read from, from now on if it is another one than before. */
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

  /** Reads what is new, and puts in line whom it concerns. */
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

  /** A snapshot has brought a history that begins later: whoever needs what is missing will find that out. */
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

  /** The next changes for a watcher that is behind; null if they are gone, which ends it. */
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
      this.#endAll(new CoordinationError("NO_LEADER", "this member hears no leader, or cannot keep up with it"));
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

  /** Checks those that were checked longest ago: a share each time, so that it takes no long turn. */
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

  /** In turns of their own: there may be thousands. */
  #endAll(error: CoordinationError): void {
    for (const watcher of this.#watchers) {
      this.#leaving.set(watcher, error);
    }
    this.#line.clear();
    this.#arm();
  }

  /** Tells the watcher that it is over; before that how far it has come, unless it was refused. */
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
    `changes from revision ${revision} on are not kept any more; read what is there, and watch from then on`,
    { details: new Map([["compact_revision", String(compactRevision)]]) },
  );
}

function shuttingDown(): CoordinationError {
  return new CoordinationError("SHUTTING_DOWN", "this member is shutting down; go on at another one");
}

function noReplica(): CoordinationError {
  return new CoordinationError("NO_LEADER", "this member serves no cluster any more");
}
