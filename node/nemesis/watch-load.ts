/**
 * Watchers of keys or of locks, some at every member: whenever a stream ends, or says nothing for too long, its watcher
 * goes on from what it was told last, at its own member if that serves and at another one if not.
 */

import type { WatchedStream, Watching, WatchMessage } from "../history/index.ts";
import { type Answer, type ClusterUnderTest, type GrpcStream, pause, until } from "../test/harness/index.ts";
import { pick } from "./fault.ts";
import { MemberCalls } from "./member-calls.ts";
import { PROGRESS_INTERVAL_MS, type ToldResponse, type Watched } from "./watched.ts";

/** A stream that says nothing for so many intervals is lost, whatever its connection says. */
const SILENT_MS_MAX = 10 * PROGRESS_INTERVAL_MS;
const POLL_MS = 20;
const REST_MS = 100;
/** A member or the way to it was lost. */
const EXPECTED_CODES: ReadonlySet<string> = new Set(["UNAVAILABLE", "CANCELLED", "DEADLINE_EXCEEDED"]);
/** How the library tells of a stream that broke off, where it has not noticed first that the connection did. */
const BROKEN_OFF = /^Received RST_STREAM with code [0-9]+/;

/** A stream while it goes on. */
interface Recorded<Change> extends WatchedStream<Change> {
  readonly messages: WatchMessage<Change>[];
  compactRevision?: number;
}

interface Watcher<Change> extends Watching<Change> {
  readonly position: number;
  readonly streams: Recorded<Change>[];
}

export class WatchLoad<Change, Response extends ToldResponse> {
  readonly #watched: Watched<Change, Response>;
  readonly #cluster: ClusterUnderTest;
  readonly #calls: MemberCalls;
  readonly #random: (bound: number) => number;
  readonly #watchers: readonly Watcher<Change>[];
  /** Changes that were told, by their ids: those of several watchers are mostly the same. */
  readonly #changes = new Map<string, Change>();
  /** How often streams ended, by how. */
  readonly #ends = new Map<string, number>();
  #isStopping = false;
  #working: Promise<unknown> = Promise.resolve();
  #failure: unknown;

  /** @param members how many of them are watched at. */
  constructor(
    watched: Watched<Change, Response>,
    cluster: ClusterUnderTest,
    members: number,
    random: (bound: number) => number,
  ) {
    this.#watched = watched;
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

  /** What the watchers were told. */
  get watchings(): readonly Watching<Change>[] {
    return this.#watchers;
  }

  /** Each stream, with the ids of the changes in its messages; `changes` has those. */
  get lines(): readonly object[] {
    return this.#watchers.flatMap(({ client, streams }) =>
      streams.map((stream) => {
        const messages = stream.messages.map(({ kind, revision, atMs, changes }) => {
          return [kind, revision, atMs, changes.map(this.#watched.idOf)];
        });
        return { client, ...stream, messages };
      }),
    );
  }

  /** The changes that were told, as the first of those who were told was told them. */
  get changes(): readonly Change[] {
    return [...this.#changes.values()];
  }

  /** What it has come to, in words. */
  describe(): readonly string[] {
    const streams = this.#watchers.flatMap((watcher) => watcher.streams);
    const messages = streams.flatMap((stream) => stream.messages);
    const told = messages.reduce((sum, { changes }) => sum + changes.length, 0);
    const ends = [...this.#ends].map(([how, count]) => `${how} ${count}`).join("  ");
    return [
      `watchers of ${this.#watched.things} ${this.#watchers.length}  streams ${streams.length}  changes told ${told}`,
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
   * Lets the watchers go on until each was told everything up to the revision, then ends them; to be called when all
   * members serve again. Rejects if one met an error that no fault explains, or is never told.
   */
  async stopAt(revision: number): Promise<void> {
    try {
      await until(`all watchers to be told up to ${revision}`, () => {
        return this.#failure !== undefined || this.#watchers.every((watcher) => toldRevisionOf(watcher) >= revision);
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
      // Where nothing was told there is no use in asking again at once.
      isAtOwn = isServed || !isAtOwn;
      await pause(REST_MS);
    }
  }

  /** Reads a stream to its end; whether it told anything. */
  async #readOne(watcher: Watcher<Change>, endpoint: string): Promise<boolean> {
    const startRevision = nextRevisionOf(watcher);
    const recorded: Recorded<Change> = { startRevision, startMs: performance.now(), messages: [] };
    watcher.streams.push(recorded);
    const opened = await this.#watched.open(this.#calls, endpoint, watcher.prefix, startRevision);
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

  /** Takes in what the stream tells, until it ends or says nothing for too long. */
  async #follow(stream: GrpcStream<Response, Answer<never>>, recorded: Recorded<Change>): Promise<void> {
    for (let heardMs = performance.now(); performance.now() - heardMs < SILENT_MS_MAX && !this.#isStopping; ) {
      // Whatever came before the end stands before it.
      const { end } = stream;
      if (this.#take(stream, recorded)) {
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

  /** Takes in what has come; whether anything has. */
  #take({ messages }: GrpcStream<Response, Answer<never>>, recorded: Recorded<Change>): boolean {
    const come = messages.splice(0);
    const atMs = performance.now();
    for (const response of come) {
      const { created, progress, revision } = response;
      const changes = this.#watched.changesOf(response).map((change) => this.#shared(change));
      const kind = created ? "created" : progress ? "progress" : "changes";
      recorded.messages.push({ kind, revision: Number(revision), changes, atMs });
    }
    return come.length > 0;
  }

  /** The same change as it was told to others, if it was. */
  #shared(change: Change): Change {
    const id = this.#watched.idOf(change);
    const known = this.#changes.get(id);
    if (known === undefined) {
      this.#changes.set(id, change);
      return change;
    }
    return JSON.stringify(known) === JSON.stringify(change) ? known : change;
  }
}

/** How a stream has ended, in words. Raises an error for an end that no fault explains. */
function endOf({ code, reason, message }: Answer<never>): string {
  if (code === "INTERNAL" && reason === "" && BROKEN_OFF.test(message)) {
    return "broken off";
  }
  if (!EXPECTED_CODES.has(code) && reason !== "COMPACTED" && reason !== "TOKEN_EXPIRED") {
    throw new Error(`a watch ended with ${code} ${reason}: ${message}`);
  }
  return `${code} ${reason}`.trimEnd();
}

/** Everything up to this revision has been told. */
function toldRevisionOf<Change>({ streams }: Watching<Change>): number {
  return streams.findLast(({ messages }) => messages.length > 0)?.messages.at(-1)?.revision ?? 0;
}

/** Where to go on; 0 = nothing was told yet. */
function nextRevisionOf<Change>(watching: Watching<Change>): number {
  const compactRevision = watching.streams.at(-1)?.compactRevision;
  const told = toldRevisionOf(watching);
  return compactRevision ?? (told === 0 ? 0 : told + 1);
}
