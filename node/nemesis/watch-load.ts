/**
 * Watchers of keys, some at every member: whenever a stream ends, or says nothing for too long, its watcher goes on from
 * what it was told last, at its own member if that serves and at another one if not.
 */

import {
  KeyEvent_Type,
  type KeyValue,
  serviceDefinitions,
  WatchKeysRequest,
  type WatchKeysResponse,
} from "@quoin/proto";
import {
  type KeyContent,
  type RecordedOperation,
  type WatchedChange,
  type WatchedStream,
  type Watching,
  type WatchMessage,
  watchCheck,
} from "../history/index.ts";
import { type Answer, type ClusterUnderTest, type GrpcStream, pause, until } from "../test/harness/index.ts";
import { pick } from "./fault.ts";
import { MemberCalls } from "./member-calls.ts";

const { WatchService } = serviceDefinitions;
const NAMESPACE = "default";
/** Of keys without and with a time to live, of which all that is done to them is recorded. */
const PREFIXES = ["key-", "lifetime-"] as const;
const PROGRESS_INTERVAL_MS = 200;
/** A stream that says nothing for so many intervals is lost, whatever its connection says. */
const SILENT_MS_MAX = 10 * PROGRESS_INTERVAL_MS;
const POLL_MS = 20;
const REST_MS = 100;
/** A member or the way to it was lost. */
const EXPECTED_CODES: ReadonlySet<string> = new Set(["UNAVAILABLE", "CANCELLED", "DEADLINE_EXCEEDED"]);
/** How the library tells of a stream that broke off, where it has not noticed first that the connection did. */
const BROKEN_OFF = /^Received RST_STREAM with code [0-9]+/;
/** All processes have one clock, of which the cluster counts whole milliseconds; and no history is as old as an hour. */
const LIMITS = { clockDrift: 0, clockResolutionMs: 1, compactRevisionMax: 0 } as const;
const CHANGE_KINDS: ReadonlyMap<KeyEvent_Type, WatchedChange["kind"]> = new Map([
  [KeyEvent_Type.PUT, "put"],
  [KeyEvent_Type.DELETE, "delete"],
  [KeyEvent_Type.EXPIRE, "expire"],
]);

type WatchStream = GrpcStream<WatchKeysResponse, Answer<never>>;

/** A stream while it goes on. */
interface Recorded extends WatchedStream {
  readonly messages: WatchMessage[];
  compactRevision?: number;
}

interface Watcher extends Watching {
  readonly position: number;
  readonly streams: Recorded[];
}

export class WatchLoad {
  readonly #cluster: ClusterUnderTest;
  readonly #calls: MemberCalls;
  readonly #random: (bound: number) => number;
  readonly #watchers: readonly Watcher[];
  /** Changes that were told, by revision: those of several watchers are mostly the same. */
  readonly #changes = new Map<number, WatchedChange>();
  /** How often streams ended, by how. */
  readonly #ends = new Map<string, number>();
  #isStopping = false;
  #working: Promise<unknown> = Promise.resolve();
  #failure: unknown;

  /** @param members how many of them are watched at. */
  constructor(cluster: ClusterUnderTest, members: number, random: (bound: number) => number) {
    this.#cluster = cluster;
    this.#random = random;
    this.#calls = new MemberCalls(cluster, random);
    this.#watchers = Array.from({ length: members }, (_, position) =>
      PREFIXES.map((prefix): Watcher => ({ client: `watcher-${prefix}${position}`, prefix, position, streams: [] })),
    ).flat();
  }

  /** Each stream, with the revisions of the changes in its messages; `changes` has those. */
  get lines(): readonly object[] {
    return this.#watchers.flatMap(({ client, streams }) =>
      streams.map((stream) => {
        const messages = stream.messages.map(({ kind, revision, atMs, changes }) => {
          return [kind, revision, atMs, changes.map(({ content }) => content.modRevision)];
        });
        return { client, ...stream, messages };
      }),
    );
  }

  /** The changes that were told, as the first of those who were told was told them. */
  get changes(): readonly WatchedChange[] {
    return [...this.#changes.values()];
  }

  /** What it has come to, in words. */
  describe(): readonly string[] {
    const streams = this.#watchers.flatMap((watcher) => watcher.streams);
    const messages = streams.flatMap((stream) => stream.messages);
    const told = messages.reduce((sum, { changes }) => sum + changes.length, 0);
    const ends = [...this.#ends].map(([how, count]) => `${how} ${count}`).join("  ");
    return [
      `watchers ${this.#watchers.length}  streams ${streams.length}  changes told ${told}`,
      `ends of streams: ${ends}`,
    ];
  }

  /** The error that ended them, which no fault explains; undefined if there is none. */
  get failure(): unknown {
    return this.#failure;
  }

  start(): void {
    const work = async (watcher: Watcher): Promise<void> => {
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

  /** What contradicts what the watchers were told, in words, if this is all that was done to the keys. */
  judge(operations: readonly RecordedOperation[]): readonly string[] {
    return watchCheck(this.#watchers, operations, LIMITS);
  }

  async #watch(watcher: Watcher): Promise<void> {
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
  async #readOne(watcher: Watcher, endpoint: string): Promise<boolean> {
    const startRevision = nextRevisionOf(watcher);
    const recorded: Recorded = { startRevision, startMs: performance.now(), messages: [] };
    watcher.streams.push(recorded);
    const request = WatchKeysRequest.fromPartial({
      ...{ namespace: NAMESPACE, prefix: watcher.prefix, startRevision: BigInt(startRevision) },
      ...{ includePrevious: true, progressIntervalMs: BigInt(PROGRESS_INTERVAL_MS) },
    });
    const opened = await this.#calls.stream(endpoint, WatchService.watchKeys, request);
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
  async #follow(stream: WatchStream, recorded: Recorded): Promise<void> {
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
  #take({ messages }: WatchStream, recorded: Recorded): boolean {
    const come = messages.splice(0);
    const atMs = performance.now();
    for (const { events, created, progress, revision } of come) {
      const changes = events.map(({ type, kv, previous }) => this.#shared(changeOf(type, kv, previous)));
      const kind = created ? "created" : progress ? "progress" : "changes";
      recorded.messages.push({ kind, revision: Number(revision), changes, atMs });
    }
    return come.length > 0;
  }

  /** The same change as it was told to others, if it was. */
  #shared(change: WatchedChange): WatchedChange {
    const { modRevision } = change.content;
    const known = this.#changes.get(modRevision);
    if (known === undefined) {
      this.#changes.set(modRevision, change);
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
function toldRevisionOf({ streams }: Watching): number {
  return streams.findLast(({ messages }) => messages.length > 0)?.messages.at(-1)?.revision ?? 0;
}

/** Where to go on; 0 = nothing was told yet. */
function nextRevisionOf(watching: Watching): number {
  const compactRevision = watching.streams.at(-1)?.compactRevision;
  const told = toldRevisionOf(watching);
  return compactRevision ?? (told === 0 ? 0 : told + 1);
}

function changeOf(type: KeyEvent_Type, now: KeyValue | undefined, before: KeyValue | undefined): WatchedChange {
  const kind = CHANGE_KINDS.get(type);
  if (kind === undefined || now === undefined) {
    throw new Error(`a change is of no kind, or of no key: ${type}`);
  }
  return {
    ...{ kind, key: now.key, content: contentOf(now) },
    previous: before === undefined ? null : contentOf(before),
  };
}

function contentOf({ value, createRevision, modRevision, version }: KeyValue): KeyContent {
  return {
    value: Buffer.from(value).toString(),
    createRevision: Number(createRevision),
    modRevision: Number(modRevision),
    version: Number(version),
  };
}
