/**
 * Watchers of keys and of locks at a simulated cluster. Each reads one stream after the other, at any member, quickly
 * or slowly, and resumes after the last revision that it got. The rules check what a member sends when it is sent. The
 * messages that arrive go into histories, with their order and times.
 */

import { invariant } from "../../src/primitives/index.ts";
import { CoordinationError, DEFAULT_NAMESPACE, type Principal } from "../../src/state/index.ts";
import type { WatchMessage, WatchRequest } from "../../src/watch/index.ts";
import { lockWatchCheck, type Watching, watchCheck } from "../history/index.ts";
import { type AccessRules, isRevocation } from "./access-rules.ts";
import { type Accounts, recheck } from "./accounts.ts";
import type { Calls } from "./calls.ts";
import type { EventHeap } from "./event-heap.ts";
import { type KeyHistory, textOf } from "./key-history.ts";
import { NAMESPACES, namespaceOf } from "./key-namespaces.ts";
import { type LockHistory, nameOutOfHistory } from "./lock-history.ts";
import type { WatchPlan } from "./plan.ts";
import type { Process } from "./process.ts";
import { type RandomStream, streamOf } from "./random.ts";
import type { Requests } from "./requests.ts";
import { must } from "./rule-violation.ts";
import { sentKeyChange, sentLockChange } from "./sent-changes.ts";
import type { Trace } from "./trace.ts";
import type { SentStream, WatchRules } from "./watch-rules.ts";

export interface WatchersOptions {
  readonly heap: EventHeap;
  /** Draws how long messages take. */
  readonly random: RandomStream;
  readonly trace: Trace;
  readonly calls: Calls;
  readonly requests: Requests;
  readonly rules: WatchRules;
  readonly access: AccessRules;
  /** The accounts of the watchers. */
  readonly accounts: Accounts;
  readonly history: KeyHistory;
  readonly lockHistory: LockHistory;
  readonly plan: WatchPlan;
  /** Running processes. */
  readonly processes: () => readonly Process[];
}

type About = WatchRequest["about"];

/** What a watcher got in one stream. */
interface ReceivedStream {
  readonly startRevision: number;
  readonly startMs: number;
  readonly messages: {
    readonly kind: Exclude<WatchMessage["kind"], "part">;
    readonly revision: number;
    readonly changes: WatchMessage["changes"];
    readonly atMs: number;
  }[];
  compactRevision?: number;
}

interface Stream {
  readonly process: Process;
  readonly received: ReceivedStream;
  /** The watcher ignores everything that follows. */
  isAbandoned: boolean;
  /** Its member has ended it. */
  isEnded: boolean;
  /** Since when its process knows that the watcher was revoked, in milliseconds; null = it does not know. */
  knownMs: number | null;
  /** When the last message arrives, so that no message overtakes another. */
  arrivesMs: number;
  /** Reports to the member that the watcher has left. */
  close: () => void;
}

interface Watcher {
  readonly id: number;
  readonly principal: Principal;
  readonly about: About;
  readonly namespace: string;
  readonly prefix: string;
  readonly progressIntervalMs: number;
  /** The stream of the present decisions. */
  random: RandomStream;
  /** Mean time for a message, in milliseconds. */
  takeMs: number;
  stream: Stream | null;
  isOpening: boolean;
  /** It got the answer that it was revoked, and sends no more requests. */
  isRevoked: boolean;
  /** Where it resumes; 0 = from now on. */
  next: number;
  readonly streams: ReceivedStream[];
}

const PREFIXES: Readonly<Record<About, readonly string[]>> = {
  key: ["", "", "key-", "key-0", "guarded-", "none"],
  lock: ["", "", "lock-", "lock-0", "lock-1", "none"],
};
const INTERVALS_MS = [100, 300, 1_000];
const OPEN_MS = 3_000;
const DELAY_MS = 2;
const AGAIN_MS = 100;
/** Longest time of a slow watcher for a message, in milliseconds. */
const SLOW_MS = 3_000;
/**
 * Within this time after a member knows of a revocation, it stops sending to the revoked watcher; includes ticks and a
 * margin.
 */
const RECHECKED_MS = 1_000;

export class Watchers {
  readonly #options: WatchersOptions;
  readonly #watchers = new Map<number, Watcher>();
  /** All watchers are quick, and resume at once where a stream has ended. */
  #isCatchingUp = false;
  #isStopped = false;

  constructor(options: WatchersOptions) {
    this.#options = options;
  }

  /** Streams that were opened, or refused because of their start. */
  get streams(): number {
    return [...this.#watchers.values()].reduce((sum, { streams }) => sum + streams.length, 0);
  }

  /** The watcher must do something now. */
  act(id: number, draw: number): void {
    const watcher = this.#watcherOf(id, draw);
    if (this.#isCatchingUp) {
      return;
    }
    watcher.random = streamOf(draw);
    const { random, stream } = watcher;
    if (stream === null) {
      this.#open(watcher);
    } else if (random.chance(0.5)) {
      watcher.takeMs = random.chance(0.5) ? random.between(0, 5) : random.between(5, SLOW_MS);
    } else if (random.chance(0.6)) {
      this.#leave(watcher, stream);
    }
  }

  /** From now on, all watchers are quick. */
  catchUp(): void {
    this.#isCatchingUp = true;
    for (const watcher of this.#watchers.values()) {
      watcher.takeMs = 0;
      if (watcher.stream === null) {
        this.#open(watcher);
      }
    }
  }

  /** Whether each watcher that is not revoked has a stream, and got everything up to the revision. */
  areCaughtUp(revision: number): boolean {
    return [...this.#watchers.values()].every(({ stream, next, isRevoked }) => {
      return isRevoked || (stream !== null && next > revision);
    });
  }

  /** A member that knows of a revocation soon stops sending to the watcher. Call it from time to time. */
  checkRevoked(): void {
    const { heap, access } = this.#options;
    for (const { id, principal, stream } of this.#watchers.values()) {
      const index = stream === null ? null : access.revokedAt(principal);
      if (stream === null || index === null || stream.process.replica.status().appliedIndex < index) {
        continue;
      }
      stream.knownMs ??= heap.nowMs;
      const { memberId, loop } = stream.process;
      const lateMs = Math.min(heap.nowMs - stream.knownMs, loop.unhinderedMs);
      must(stream.isEnded || lateMs <= RECHECKED_MS, "S39 the stream of who was revoked ends within a second", () => {
        return `m${memberId}: w${id}, revoked by entry ${index}, ${Math.round(lateMs)} ms late`;
      });
    }
  }

  /** Ends all watches. */
  stop(): void {
    this.#isStopped = true;
    for (const { stream } of this.#watchers.values()) {
      if (stream !== null) {
        stream.isAbandoned = true;
      }
    }
  }

  /** The process has ended, and its last messages may be lost. */
  onDeath(process: Process): void {
    for (const watcher of this.#watchers.values()) {
      const { stream } = watcher;
      if (stream?.process === process) {
        this.#end(watcher, stream);
      }
    }
  }

  /** Throws a RuleViolation if no correct cluster could have sent what the watchers got. */
  check(driftShare: number): void {
    const { rules, history, lockHistory } = this.#options;
    const compactRevisionMax = Math.max(...NAMESPACES.map((namespace) => rules.compactRevisionOf(namespace)));
    const touched = new Set([...history.touched].map((key) => withFullName({ key }).key));
    const limits = { clockDrift: driftShare, clockResolutionMs: 1, compactRevisionMax, touched };
    const known = new Set(history.operations.map(({ operation }) => operation.key));
    const ofKeys = this.#watchings("key", ({ change }) => {
      // The numbers and the lock of transactions are in no history; other rules have compared their changes with the log.
      const isKnown = change.about === "key" && known.has(textOf(change.current.key));
      return isKnown ? [withFullName(sentKeyChange(change))] : [];
    }).map((watching) => ({ ...watching, prefix: `${watching.namespace}/${watching.prefix}` }));
    const operations = history.operations.map((one) => ({ ...one, operation: withFullName(one.operation) }));
    const knownLocks = new Set(lockHistory.records.map(({ operation }) => operation.lock));
    const ofLocks = this.#watchings("lock", ({ change, revision }) => {
      const sent = change.about === "lock" ? [sentLockChange(change, revision)] : [];
      return sent.filter(({ lock }) => knownLocks.has(lock));
    });
    const wrong = [
      ...watchCheck(ofKeys, operations, limits),
      ...(ofLocks.length === 0
        ? []
        : lockWatchCheck(ofLocks, lockHistory.records, { ...limits, nameOf: nameOutOfHistory })),
    ];
    must(wrong.length === 0, "history: a cluster could have sent that to watchers", () => wrong.join("\n"));
  }

  /** What watchers of keys or of locks got, with each change as the oracle needs it. */
  #watchings<Change>(
    about: About,
    changesOf: (shared: WatchMessage["changes"][number]) => readonly Change[],
  ): readonly (Watching<Change> & { readonly namespace: string })[] {
    return [...this.#watchers.values()]
      .filter((watcher) => watcher.about === about)
      .map(({ id, namespace, prefix, streams }) => {
        const inWords = streams.map(({ messages, ...stream }) => {
          const received = messages.map((message) => ({ ...message, changes: message.changes.flatMap(changesOf) }));
          return { ...stream, messages: received };
        });
        return { client: `w${id}`, namespace, prefix, streams: inWords };
      });
  }

  #watcherOf(id: number, draw: number): Watcher {
    const known = this.#watchers.get(id);
    if (known !== undefined) {
      return known;
    }
    const random = streamOf(draw);
    const { rules, plan } = this.#options;
    const { revision } = rules;
    const about = id > plan.clients ? "lock" : "key";
    const watcher: Watcher = {
      id,
      about,
      random,
      isOpening: false,
      isRevoked: false,
      stream: null,
      streams: [],
      principal: this.#options.accounts.principalOf(id),
      prefix: random.pick(PREFIXES[about]) ?? "",
      progressIntervalMs: random.pick(INTERVALS_MS) ?? 1_000,
      takeMs: random.between(0, 5),
      // From now on, from far back, or from a future revision.
      next: random.pick([0, 0, 1, Math.max(1, revision - 20), revision + 10]) ?? 0,
      // Locks are in one namespace.
      namespace: (about === "key" ? random.pick(NAMESPACES) : undefined) ?? DEFAULT_NAMESPACE,
    };
    this.#watchers.set(id, watcher);
    return watcher;
  }

  // ---- Opening and leaving ----

  #open(watcher: Watcher): void {
    const { calls, processes } = this.#options;
    const process = watcher.random.pick(processes());
    if (watcher.isOpening || watcher.isRevoked || this.#isStopped) {
      return;
    }
    if (process === undefined) {
      this.#openAgain(watcher);
      return;
    }
    watcher.isOpening = true;
    const floor = this.#options.requests.floor;
    const startMs = this.#options.heap.nowMs;
    const what = `watch ${watcher.about}s "${watcher.prefix}" in ${watcher.namespace} from ${watcher.next}`;
    const admission = this.#options.accounts.beginRead(watcher.principal, what);
    calls.call<Stream | CoordinationError>(
      process,
      what,
      OPEN_MS,
      (deadlineMs, done) => {
        process.replica.readBarrier(deadlineMs, (error) => {
          done(error ?? admission(process) ?? this.#openAt(watcher, process, floor, startMs));
        });
      },
      (answer) => {
        watcher.isOpening = false;
        watcher.isRevoked = isRevocation(answer);
        if (answer === null || answer instanceof CoordinationError) {
          this.#openAgain(watcher);
        } else if (answer.isAbandoned || answer.process.loop.isDead) {
          // It has ended already, or its process has.
          answer.isAbandoned = true;
          this.#openAgain(watcher);
        } else {
          watcher.stream = answer;
        }
      },
    );
  }

  #openAgain(watcher: Watcher): void {
    this.#options.heap.after(watcher.random.exponential(AGAIN_MS), () => {
      if (watcher.stream === null) {
        this.#open(watcher);
      }
    });
  }

  /** The stream, or the reason of a refusal. */
  #openAt(watcher: Watcher, process: Process, floor: number, startMs: number): Stream | CoordinationError {
    const { heap, rules, trace } = this.#options;
    const { about, namespace, prefix, progressIntervalMs, principal, next: startRevision } = watcher;
    const received: ReceivedStream = { startRevision, startMs, messages: [] };
    const stream: Stream = {
      process,
      received,
      isAbandoned: false,
      isEnded: false,
      knownMs: null,
      arrivesMs: heap.nowMs,
      close: () => undefined,
    };
    const sent: SentStream = { member: process.memberId, about, namespace, prefix, startRevision, floor, next: 0 };
    trace.record(process.memberId, "is watched", [watcher.id, startRevision], () => {
      return `by w${watcher.id}: ${about}s "${prefix}" in ${namespace} from ${startRevision}`;
    });
    rules.onOpen(sent);
    const asked = { namespace, prefix: Buffer.from(prefix), startRevision, progressIntervalMs, principal };
    try {
      stream.close = process.watchHub.open(
        { about, ...asked },
        {
          send: (message, taken) => {
            rules.onMessage(sent, message);
            this.#arrive(stream, () => this.#handleMessage(watcher, stream, message, taken));
          },
          recheck: () => recheck(process, watcher.principal),
          end: (error) => {
            stream.isEnded = true;
            rules.onEnd(sent, error);
            this.#arrive(stream, () => this.#onEnd(watcher, stream, error));
          },
        },
      );
    } catch (error) {
      if (!(error instanceof CoordinationError)) {
        throw error;
      }
      rules.onEnd(sent, error);
      if (error.reason === "COMPACTED") {
        watcher.streams.push(received);
        this.#onCompacted(watcher, received, error);
      }
      return error;
    }
    watcher.streams.push(received);
    return stream;
  }

  /** The watcher leaves, and comes back to another member. */
  #leave(watcher: Watcher, stream: Stream): void {
    const { process, close } = stream;
    process.loop.arrive(close);
    this.#end(watcher, stream);
  }

  #end(watcher: Watcher, stream: Stream): void {
    stream.isAbandoned = true;
    if (watcher.stream === stream) {
      watcher.stream = null;
      this.#openAgain(watcher);
    }
  }

  // ---- What arrives ----

  /** Lets something arrive at the watcher, after everything that was sent before. */
  #arrive(stream: Stream, action: () => void): void {
    const { heap, random } = this.#options;
    stream.arrivesMs = Math.max(stream.arrivesMs, heap.nowMs + random.exponential(DELAY_MS));
    heap.at(stream.arrivesMs, () => {
      if (!stream.isAbandoned) {
        action();
      }
    });
  }

  #handleMessage(watcher: Watcher, stream: Stream, { kind, revision, changes }: WatchMessage, taken: () => void): void {
    const { heap, random, trace } = this.#options;
    const { memberId, loop } = stream.process;
    trace.record(memberId, "has told", [watcher.id, revision, changes.length], () => {
      return `w${watcher.id} ${kind} up to ${revision}: ${changes.length} changes`;
    });
    invariant(kind !== "part", "no revision of the simulator is so large that it is divided");
    stream.received.messages.push({ kind, revision, changes, atMs: heap.nowMs });
    watcher.next = revision + 1;
    heap.after(random.exponential(watcher.takeMs), () => loop.arrive(taken));
  }

  #onEnd(watcher: Watcher, stream: Stream, error: CoordinationError): void {
    const { memberId, loop } = stream.process;
    this.#options.trace.record(memberId, "watches no more for", [watcher.id], () => `w${watcher.id}: ${error.reason}`);
    watcher.isRevoked = isRevocation(error);
    if (error.reason === "COMPACTED") {
      this.#onCompacted(watcher, stream.received, error);
    }
    loop.arrive(stream.close);
    this.#end(watcher, stream);
  }

  #onCompacted(watcher: Watcher, received: ReceivedStream, { details }: CoordinationError): void {
    const compactRevision = Number(details.get("compact_revision"));
    // A watcher that got something requests once more from there, and is refused like every request with that start.
    if (received.messages.length === 0) {
      received.compactRevision = compactRevision;
      watcher.next = compactRevision;
    }
  }
}

/** With its namespace in the name of the key, as the oracle needs it, which knows no namespaces. */
function withFullName<Named extends { readonly key: string }>(named: Named): Named {
  return { ...named, key: `${namespaceOf(named.key)}/${named.key}` };
}
