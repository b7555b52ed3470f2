/**
 * Watchers of keys or of locks, some at every member. When a stream ends, or is silent for too long, its watcher
 * continues after the last received revision, at its own member if that serves, otherwise at another one.
 */

import { type Answer, type ClusterUnderTest, type GrpcStream, pause, until } from "../../test/harness/index.ts";
import type { WatchedStream, Watching, WatchMessage } from "../history/index.ts";
import { pick } from "./fault.ts";
import { MemberCalls } from "./member-calls.ts";
import { PROGRESS_INTERVAL_MS, type StreamResponse, type WatchTarget } from "./watch-targets.ts";

/** A stream that is silent for this long counts as lost, whatever the state of its connection. */
const SILENT_MS_MAX = 10 * PROGRESS_INTERVAL_MS;
const POLL_MS = 20;
const REST_MS = 100;
/** Codes for a lost member or connection. */
const EXPECTED_CODES: ReadonlySet<string> = new Set(["UNAVAILABLE", "CANCELLED", "DEADLINE_EXCEEDED"]);
/** The library's message for a broken stream, if it has not noticed the broken connection first. */
const BROKEN_OFF = /^Received RST_STREAM with code [0-9]+/;

/** A stream that is still recorded. */
interface Recorded<Change> extends WatchedStream<Change> {
  readonly messages: WatchMessage<Change>[];
  compactRevision?: number;
}

interface Watcher<Change> extends Watching<Change> {
  readonly position: number;
  readonly streams: Recorded<Change>[];
}

export class WatchLoad<Change, Response extends StreamResponse> {
  readonly #target: WatchTarget<Change, Response>;
  readonly #cluster: ClusterUnderTest;
  readonly #calls: MemberCalls;
  readonly #random: (bound: number) => number;
  readonly #watchers: readonly Watcher<Change>[];
  /** Received changes by id. Most are shared by several watchers. */
  readonly #changes = new Map<string, Change>();
  /** Number of ended streams, by how they ended. */
  readonly #ends = new Map<string, number>();
  #isStopping = false;
  #working: Promise<unknown> = Promise.resolve();
  #failure: unknown;

  /** @param members number of members that get watchers */
  constructor(
    watched: WatchTarget<Change, Response>,
    cluster: ClusterUnderTest,
    members: number,
    random: (bound: number) => number,
  ) {
    this.#target = watched;
    this.#cluster = cluster;
    this.#random = random;
    this.#calls = new MemberCalls(cluster, random);
    const { prefixes, things } = watched;
    this.#watchers = Array.from({ length: members }, (_, position) =>
      prefixes.map((prefix): Watcher<Change> => {
        return { client: `watcher-${prefix || things}${position}`, prefix, position, streams: [] };
      }),
    ).flat();
  }

  /** Everything that the watchers have received. */
  get watchings(): readonly Watching<Change>[] {
    return this.#watchers;
  }

  /** All streams, with the ids of the changes in their messages; `changes` has the changes. */
  get lines(): readonly object[] {
    return this.#watchers.flatMap(({ client, streams }) =>
      streams.map((stream) => {
        const messages = stream.messages.map(({ kind, revision, atMs, changes }) => {
          return [kind, revision, atMs, changes.map(this.#target.idOf)];
        });
        return { client, ...stream, messages };
      }),
    );
  }

  /** All received changes, each as its first watcher has received it. */
  get changes(): readonly Change[] {
    return [...this.#changes.values()];
  }

  /** Results of the load, in words. */
  describe(): readonly string[] {
    const streams = this.#watchers.flatMap((watcher) => watcher.streams);
    const messages = streams.flatMap((stream) => stream.messages);
    const told = messages.reduce((sum, { changes }) => sum + changes.length, 0);
    const ends = [...this.#ends].map(([how, count]) => `${how} ${count}`).join("  ");
    return [
      `watchers of ${this.#target.things} ${this.#watchers.length}  streams ${streams.length}  changes received ${told}`,
      `ends of streams: ${ends}`,
    ];
  }

  /** The error that ended them, which no fault explains; undefined if there is none. */
  get failure(): unknown {
    return this.#failure;
  }

  start(): void {
    const work = async (watcher: Watcher<Change>): Promise<void> => {
      try {
        await this.#watch(watcher);
      } catch (error) {
        this.#failure ??= error;
        this.#isStopping = true;
      }
    };
    this.#working = Promise.all(this.#watchers.map(work));
  }

  /**
   * Lets the watchers continue until each has received everything up to the revision, and then ends them. All members
   * must serve again. Rejects if a watcher met an error that no fault explains, or never receives the revision.
   */
  async stopAt(revision: number): Promise<void> {
    try {
      await until(`all watchers to receive everything up to ${revision}`, () => {
        return (
          this.#failure !== undefined || this.#watchers.every((watcher) => receivedRevisionOf(watcher) >= revision)
        );
      });
    } finally {
      this.#isStopping = true;
      await this.#working;
    }
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
  }

  async #watch(watcher: Watcher<Change>): Promise<void> {
    for (let isAtOwn = true; !this.#isStopping; ) {
      const { endpoints } = this.#cluster;
      const endpoint = isAtOwn
        ? (endpoints[watcher.position] ?? pick(this.#random, endpoints))
        : pick(this.#random, endpoints);
      const isServed = await this.#readOne(watcher, endpoint);
      // After a stream without messages, use another member next.
      isAtOwn = isServed || !isAtOwn;
      await pause(REST_MS);
    }
  }

  /** Reads a stream to its end. Returns whether it had any messages. */
  async #readOne(watcher: Watcher<Change>, endpoint: string): Promise<boolean> {
    const startRevision = nextRevisionOf(watcher);
    const recorded: Recorded<Change> = { startRevision, startMs: performance.now(), messages: [] };
    watcher.streams.push(recorded);
    const opened = await this.#target.open(this.#calls, endpoint, watcher.prefix, startRevision);
    try {
      if (opened !== null) {
        await this.#follow(opened.stream, recorded);
      }
    } finally {
      opened?.stream.cancel();
      opened?.close();
    }
    return recorded.messages.length > 0;
  }

  /** Records the messages of the stream, until it ends or is silent for too long. */
  async #follow(stream: GrpcStream<Response, Answer<never>>, recorded: Recorded<Change>): Promise<void> {
    for (let heardMs = performance.now(); performance.now() - heardMs < SILENT_MS_MAX && !this.#isStopping; ) {
      // Read the end first, so that all messages before it are recorded.
      const { end } = stream;
      if (this.#record(stream, recorded)) {
        heardMs = performance.now();
      }
      if (end !== null) {
        this.#noteEnd(endOf(end));
        if (end.reason === "COMPACTED") {
          recorded.compactRevision = Number(end.details?.metadata.get("compact_revision"));
        }
        return;
      }
      await pause(POLL_MS);
    }
    this.#noteEnd(this.#isStopping ? "stopped" : "given up in silence");
  }

  #noteEnd(how: string): void {
    this.#ends.set(how, (this.#ends.get(how) ?? 0) + 1);
  }

  /** Records the new messages. Returns whether there were any. */
  #record({ messages }: GrpcStream<Response, Answer<never>>, recorded: Recorded<Change>): boolean {
    const come = messages.splice(0);
    const atMs = performance.now();
    for (const response of come) {
      const { created, progress, revision } = response;
      const changes = this.#target.changesOf(response).map((change) => this.#shared(change));
      const kind = created ? "created" : progress ? "progress" : "changes";
      recorded.messages.push({ kind, revision: Number(revision), changes, atMs });
    }
    return come.length > 0;
  }

  /** The object of an equal change that another watcher has received, if there is one. */
  #shared(change: Change): Change {
    const id = this.#target.idOf(change);
    const known = this.#changes.get(id);
    if (known === undefined) {
      this.#changes.set(id, change);
      return change;
    }
    return JSON.stringify(known) === JSON.stringify(change) ? known : change;
  }
}

/** How a stream ended, in words. Raises an error for an end that no fault explains. */
function endOf({ code, reason, message }: Answer<never>): string {
  if (code === "INTERNAL" && reason === "" && BROKEN_OFF.test(message)) {
    return "broken off";
  }
  if (!EXPECTED_CODES.has(code) && reason !== "COMPACTED" && reason !== "TOKEN_EXPIRED") {
    throw new Error(`a watch ended with ${code} ${reason}: ${message}`);
  }
  return `${code} ${reason}`.trimEnd();
}

/** The watcher has received everything up to this revision. */
function receivedRevisionOf<Change>({ streams }: Watching<Change>): number {
  return streams.findLast(({ messages }) => messages.length > 0)?.messages.at(-1)?.revision ?? 0;
}

/** Where to continue; 0 = nothing was received yet. */
function nextRevisionOf<Change>(watching: Watching<Change>): number {
  const compactRevision = watching.streams.at(-1)?.compactRevision;
  const told = receivedRevisionOf(watching);
  return compactRevision ?? (told === 0 ? 0 : told + 1);
}
