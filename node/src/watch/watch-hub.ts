/**
 * Sends changes to watchers: each change once, in the order of revisions, with no change left out. A revision is split
 * only if it is very large, and then the messages say so.
 *
 * Applying only signals that there is something new. In separate turns the hub reads the changes from the history once
 * for all watchers, and queues each watcher that a change concerns. A watcher is a position and at most one message in
 * flight. When it has taken that message, the hub serves it the following changes: from memory, or from the history if
 * it is far behind. So a slow watcher costs no memory and delays no other. Progress uses the same queue and follows the
 * changes before it (S37, S38).
 */

import { beginsWith } from "../bytes/index.ts";
import { invariant, mark } from "../primitives/index.ts";
import {
  CoordinationError,
  compactRevisionOf,
  completeFrom,
  firstCompleteOf,
  type HistoryBounds,
  readHistoryBounds,
  scanHistory,
} from "../state/index.ts";
import type { WatchLimits } from "./limits.ts";
import type { NamespaceStreams } from "./namespace-streams.ts";
import { type OpenStream, type StreamSelection, selectedStreams } from "./open-stream.ts";
import { PrefixIndex } from "./prefix-index.ts";
import { RecentChanges } from "./recent-changes.ts";
import { type SharedChange, type SharedRevision, shared } from "./shared-change.ts";
import {
  type StreamedReplica,
  type StreamHub,
  StreamScheduler,
  type StreamSchedulerOptions,
  type StreamSource,
} from "./stream-scheduler.ts";
import type { Subscriber, WatchMessage, WatchRequest } from "./subscriber.ts";
import { Watcher } from "./watcher.ts";

/** The replica with the watched changes. */
export interface WatchedReplica extends StreamedReplica {
  /** Revision of the readable state. */
  readonly revision: number;
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

export interface WatchHubOptions extends StreamSchedulerOptions<WatchedReplica> {
  readonly limits: WatchLimits;
  /** Counts the streams of each namespace, for all hubs of the member. */
  readonly namespaceStreams: NamespaceStreams;
}

/** What the hub needs of the replica while there are watchers. */
interface Source extends StreamSource<WatchedReplica> {
  recent: RecentChanges;
  /** The hub has read the changes up to this revision and queued their watchers. */
  publishedRevision: number;
}

export class WatchHub {
  readonly #options: WatchHubOptions;
  readonly #limits: WatchLimits;
  readonly #scheduler: StreamScheduler<Source, Watcher>;
  /** A key and a lock of the same name are watched separately. */
  readonly #indexes = { key: new PrefixIndex<Watcher>(), lock: new PrefixIndex<Watcher>() };
  #streams = 0;
  #changesSent = 0;
  #messagesSent = 0;
  /** Watches that this member has ended, by reason. Prometheus sees a counter grow only if it has been there before. */
  readonly #ended = new Map<string, number>([["COMPACTED", 0]]);

  constructor(options: WatchHubOptions) {
    this.#options = options;
    this.#limits = options.limits;
    const hub: StreamHub<Source, Watcher> = {
      begin: (replica) => this.#begin(replica),
      announce: (source) => this.#publish(source),
      hasMore: ({ publishedRevision, replica }) => publishedRevision < replica.revision,
      serve: (source, watcher) => this.#serve(source, watcher),
      onTick: () => this.#enqueueForProgress(),
      recheck: (_source, { subscriber }) => subscriber.recheck(),
      dismiss: (watcher, error) => this.#dismiss(watcher, error),
    };
    this.#scheduler = new StreamScheduler(options, hub, "this member no longer serves a cluster");
  }

  /**
   * Begins a watch, which sends every change from its start on. A start above the applied revision waits for that
   * revision.
   *
   * @returns a function that the caller must call when the stream of the subscriber ends, for whatever reason.
   * @throws CoordinationError COMPACTED, TOO_MANY_STREAMS, QUOTA, SHUTTING_DOWN, NO_LEADER
   */
  open(request: WatchRequest, subscriber: Subscriber): () => void {
    const replica = this.#scheduler.requireReplica();
    const { startRevision } = request;
    const compactRevision = compactRevisionOf(replica.state, request.namespace);
    if (startRevision !== 0 && startRevision < compactRevision) {
      throw compacted(startRevision, compactRevision);
    }
    const { streamsMax } = this.#limits;
    if (this.#streams >= streamsMax) {
      throw new CoordinationError("TOO_MANY_STREAMS", `this member serves ${streamsMax} streams already`);
    }
    const leave = this.#options.namespaceStreams.enter(replica.state, request.namespace);
    const { publishedRevision } = this.#scheduler.attach(replica);
    const next = startRevision === 0 ? replica.revision + 1 : startRevision;
    const number = this.#options.namespaceStreams.takeNumber();
    const nowMs = this.#options.clock.monotonicMs();
    const watcher = new Watcher(number, request, subscriber, next, next > publishedRevision, nowMs);
    this.#indexes[request.about].add(request, watcher);
    this.#streams++;
    this.#scheduler.add(watcher);
    return () => {
      this.#streams--;
      leave();
      this.#remove(watcher);
    };
  }

  /** Current and total numbers. */
  get statistics(): WatchStatistics {
    let catchingUp = 0;
    for (const { isLive } of this.#scheduler.streams) {
      catchingUp += Number(!isLive);
    }
    const [streams, queued, changesSent] = [this.#streams, this.#scheduler.queued, this.#changesSent];
    return { streams, catchingUp, queued, changesSent, messagesSent: this.#messagesSent, ended: this.#ended };
  }

  /** The selected watches, in the order of their numbers. */
  openStreams(selection: StreamSelection): OpenStream[] {
    const source = this.#scheduler.source;
    if (source === null) {
      return [];
    }
    const { replica, publishedRevision } = source;
    const nowMs = this.#options.clock.monotonicMs();
    return selectedStreams(this.#scheduler.streams, selection).map((watcher) => {
      const { number, request, openedMs, start, isSending } = watcher;
      const delivered = watcher.sentRevision(publishedRevision);
      return {
        number,
        about: request.about,
        namespace: request.namespace,
        prefix: request.prefix,
        isExact: request.isExact ?? false,
        logId: null,
        principal: request.principal,
        openMs: nowMs - openedMs,
        start,
        delivered,
        isSending,
        behind: Math.max(0, replica.revision - delivered),
      };
    });
  }

  /** Sends each watch its progress, ends it, and refuses new watches. */
  drain(): void {
    this.#scheduler.drain();
  }

  #begin(replica: WatchedReplica): Source {
    const { revision } = replica;
    return {
      replica,
      recent: new RecentChanges(revision + 1, this.#limits.recentBytesMax),
      release: replica.observe(() => this.#scheduler.arm()),
      publishedRevision: revision,
    };
  }

  #remove(watcher: Watcher): void {
    this.#indexes[watcher.request.about].remove(watcher.request, watcher);
    this.#scheduler.remove(watcher);
  }

  /** Reads new changes, and queues the watchers that they concern. */
  #publish(source: Source): void {
    const { replica } = source;
    const { readRevisionsMax, readBytesMax } = this.#limits;
    const { state, revision } = replica;
    if (revision <= source.publishedRevision) {
      invariant(revision === source.publishedRevision, "the revision never runs back");
      return;
    }
    const bounds = readHistoryBounds(state);
    if (bounds.completeRevision > source.publishedRevision + 1) {
      this.#skipMissing(source, bounds);
    }
    // A skip replaces both.
    const { recent, publishedRevision } = source;
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
          this.#scheduler.enqueue(watcher);
        }
      });
    }
  }

  /**
   * A snapshot has brought a history that begins later, or in which changes of some namespaces are missing, or a
   * namespace was deleted. A watcher that needs the missing part ends in its turn.
   */
  #skipMissing(source: Source, bounds: HistoryBounds): void {
    const { state } = source.replica;
    const firstMissed = source.publishedRevision + 1;
    const keptFrom = firstCompleteOf(bounds);
    if (keptFrom > firstMissed) {
      mark("watch.skipped-by-snapshot");
      source.publishedRevision = keptFrom - 1;
      source.recent = new RecentChanges(keptFrom, this.#limits.recentBytesMax);
    }
    const completeIn = new Map<string, number>();
    for (const watcher of this.#scheduler.streams) {
      const from = Math.max(firstMissed, watcher.next);
      const { namespace } = watcher.request;
      const complete = completeIn.get(namespace) ?? completeFrom(state, namespace);
      completeIn.set(namespace, complete);
      if (watcher.isLive && from < complete) {
        mark("watch.skipped-by-snapshot");
        watcher.fallBehind(from);
        this.#scheduler.enqueue(watcher);
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
    const revision = watcher.sentRevision(source.publishedRevision);
    if (changes.length > 0) {
      this.#send(watcher, { kind: watcher.nextFrom > 0 ? "part" : "changes", changes, revision });
    } else if (this.#isProgressDue(watcher) && revision <= source.publishedRevision) {
      this.#send(watcher, { kind: "progress", changes, revision });
    }
    if (!watcher.isLive) {
      this.#scheduler.enqueue(watcher);
    }
  }

  /** The next changes for a watcher that is behind. If they are gone, ends the watch and returns null. */
  #read(source: Source, watcher: Watcher): readonly SharedChange[] | null {
    const { replica, recent, publishedRevision } = source;
    const { next, request } = watcher;
    const { state } = replica;
    if (next < readHistoryBounds(state).completeRevision && next < completeFrom(state, request.namespace)) {
      mark("watch.compacted");
      this.#scheduler.checked(source, watcher, () => {
        // The namespace may have been deleted.
        watcher.subscriber.recheck();
        throw compacted(next, compactRevisionOf(state, request.namespace));
      });
      return null;
    }
    const { messageBytes, partBytes, readRevisionsMax, readBytesMax } = this.#limits;
    const changes: SharedChange[] = [];
    const left = { message: messageBytes, revisions: readRevisionsMax, bytes: readBytesMax };
    let readTo = publishedRevision;
    let from = watcher.nextFrom;
    /** Changes that were read of the revision that does not fit; 0 = all revisions were read whole. */
    let partial = 0;
    const visit = (revision: SharedRevision): boolean => {
      const isLarge = revision.bytes > partBytes;
      let taken = 0;
      for (let at = from; at < revision.changes.length; at++) {
        const change = revision.changes[at] as SharedChange;
        if (!concerns(change, request)) {
          continue;
        }
        if (isLarge && taken > 0 && taken + change.bytes > partBytes) {
          partial = at;
          readTo = revision.revision;
          return false;
        }
        changes.push(change);
        left.message -= change.bytes;
        taken += change.bytes;
      }
      from = 0;
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
      scanHistory(state, next, publishedRevision, (read) => visit(shared(read)));
    }
    if (partial > 0) {
      watcher.onReadPart(readTo, partial);
    } else {
      watcher.onRead(readTo, readTo === publishedRevision);
    }
    return changes;
  }

  #send(watcher: Watcher, message: WatchMessage): void {
    this.#messagesSent++;
    this.#changesSent += message.changes.length;
    watcher.isSending = true;
    watcher.sentMs = this.#options.clock.monotonicMs();
    watcher.subscriber.send(message, () => {
      watcher.isSending = false;
      if (!watcher.isLive) {
        this.#scheduler.enqueue(watcher);
      }
    });
  }

  #isProgressDue({ sentMs, request }: Watcher): boolean {
    return this.#options.clock.monotonicMs() - sentMs >= request.progressIntervalMs;
  }

  #enqueueForProgress(): void {
    for (const watcher of this.#scheduler.streams) {
      if (this.#isProgressDue(watcher)) {
        this.#scheduler.enqueue(watcher);
      }
    }
  }

  /** Ends the watch. Sends its progress first, unless the watch was refused. */
  #dismiss(watcher: Watcher, error: CoordinationError): void {
    const publishedRevision = this.#scheduler.source?.publishedRevision ?? 0;
    const revision = watcher.sentRevision(publishedRevision);
    this.#ended.set(error.reason, (this.#ended.get(error.reason) ?? 0) + 1);
    const canResume = error.code === "UNAVAILABLE";
    const hasProgress = watcher.isCreated && revision <= publishedRevision;
    this.#remove(watcher);
    if (!canResume) {
      watcher.subscriber.end(error);
      return;
    }
    if (hasProgress) {
      watcher.subscriber.send({ kind: "progress", changes: [], revision }, () => undefined);
    }
    const details = new Map([["resume_revision", String(revision + 1)]]);
    watcher.subscriber.end(new CoordinationError(error.reason, error.message, { details }));
  }
}

function concerns({ change, name }: SharedChange, request: WatchRequest): boolean {
  const { about, namespace, prefix, isExact = false } = request;
  const isWatched = change.about === about && change.namespace === namespace;
  return isWatched && (!isExact || name.length === prefix.length) && beginsWith(name, prefix);
}

function compacted(revision: number, compactRevision: number): CoordinationError {
  return new CoordinationError(
    "COMPACTED",
    `changes from revision ${revision} on are no longer kept; read the current state, and watch from its revision`,
    { details: new Map([["compact_revision", String(compactRevision)]]) },
  );
}
