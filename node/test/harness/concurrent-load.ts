/**
 * Clients that put, get, delete, swap and list a few keys at the same time, and record their operations and answers.
 *
 * They use the SDK as an application would. Its attempts share one request id and one recorded operation, which spans
 * all of them, so the history is true whatever happened in between. The outcome is that of all attempts together. Every
 * value is written once.
 */

import { createClient, QuoinError, type TokenSource } from "@quoin/client";
import { seededRandom } from "../../src/replica/index.ts";
import {
  History,
  type KeyAnswer,
  type KeyOperation,
  type OperationOutcome,
  type RecordedPage,
} from "../../verify/history/index.ts";
import { performKeyOperation } from "./key-operations.ts";
import { listedPages } from "./key-pages.ts";
import type { Connect, LoadClient } from "./load-client.ts";
import { pause, until } from "./until.ts";

export interface LoadOptions {
  readonly tokens: TokenSource;
  readonly endpoints: readonly string[];
  readonly clients: number;
  /** Number of keys in use at a time. */
  readonly keys: number;
  readonly seed: number;
  /**
   * This many of the clients stay with one endpoint each, in turn. By default none: each client may use any endpoint.
   */
  readonly pinned?: number;
  /** Additional clients that only read and list, each at one endpoint, in turn. By default none. */
  readonly readers?: number;
  /** Deadline of each operation. A short one leads to more unknown outcomes. */
  readonly timeoutMs?: number;
  /** How long each client rests between two operations. */
  readonly restMs?: number;
  /** Makes the clients. By default those of the TypeScript SDK. */
  readonly connect?: Connect | undefined;
  /** Codes of failures that a fault of this test explains, in addition to those of a lost member. */
  readonly alsoExpected?: readonly string[];
}

/** What happened in a span of time. */
export interface LoadStatistics {
  /** Writes that were acknowledged. */
  readonly acknowledgedWrites: number;
  /** Operations that were certainly not executed, and failed reads. */
  readonly failed: number;
  readonly unknown: number;
  /** Longest time without an acknowledged write, the ends of the span included. */
  readonly writeGapMs: number;
  /** Over all answered operations. */
  readonly latencyMsP50: number;
  readonly latencyMsP99: number;
  /** How often operations failed, by code and reason. */
  readonly failures: ReadonlyMap<string, number>;
}

interface Finished {
  readonly endMs: number;
  readonly durationMs: number;
  readonly outcome: OperationOutcome["kind"];
  readonly isWrite: boolean;
  /** Code and reason; "" without failure. */
  readonly failure: string;
}

const TIMEOUT_MS_DEFAULT = 5_000;
const TIMEOUT_MS_LAST_READ = 30_000;
/** One turn of a reader in this many lists all keys in use, by small pages, so that keys change between two of them. */
const LISTING_SHARE = 20;
const PAGE_SIZE_MAX = 4;
/** A member or the way to it was lost; any other code would be a bug of the service or of this load. */
const EXPECTED_CODES: ReadonlySet<string> = new Set(["UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"]);

export class ConcurrentLoad {
  readonly #options: LoadOptions;
  readonly #random: (bound: number) => number;
  readonly #finished: Finished[] = [];
  readonly history = new History(() => performance.now());
  readonly #pages: RecordedPage[] = [];
  #endpoints: readonly string[];
  #generation = 0;
  #isStopping = false;
  #workers: Promise<unknown> = Promise.resolve();
  #failure: unknown;
  #values = 0;
  #unknown = 0;
  #failedListings = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.#endpoints = options.endpoints;
  }

  /** Starts the clients. They go on until `stop`. */
  start(): void {
    const work = async (client: number): Promise<void> => {
      try {
        await this.#work(client);
      } catch (error) {
        this.#failure ??= error;
        this.#isStopping = true;
      }
    };
    const { clients, readers = 0 } = this.#options;
    this.#workers = Promise.all(Array.from({ length: clients + readers }, (_, at) => work(at)));
  }

  /** Lets every client finish its operation and end. Rejects if one met an error that no fault explains. */
  async stop(): Promise<void> {
    this.abandon();
    await this.ended;
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
  }

  /** Lets every client end after its operation, without waiting for that. */
  abandon(): void {
    this.#isStopping = true;
  }

  /** Resolves when all clients have ended. */
  get ended(): Promise<unknown> {
    return this.#workers;
  }

  /** From its next operation on, each client uses these endpoints over new connections. */
  connectTo(endpoints: readonly string[]): void {
    this.#endpoints = endpoints;
  }

  /** From their next operations on, the clients use new keys, so that a long history stays easy to judge. */
  renewKeys(): void {
    this.#generation++;
  }

  /**
   * Reads each used key once more. Call it after `stop`: the history then shows the outcome of every write. Rejects if
   * a key cannot be read.
   */
  async readAll(): Promise<void> {
    const keys = new Set(this.history.operations.map(({ operation }) => operation.key));
    const client = this.#connect(this.#endpoints, TIMEOUT_MS_LAST_READ);
    try {
      for (const key of keys) {
        const outcome = await this.#operate("last-reader", client, { kind: "get", key }, new Map());
        if (outcome.kind !== "ok") {
          throw new Error(`${key} cannot be read: ${this.#finished.at(-1)?.failure}`);
        }
      }
    } finally {
      client.close();
    }
  }

  /** Answered pages of keys. They are not operations of the history; `withPages` adds them. */
  get pages(): readonly RecordedPage[] {
    return this.#pages;
  }

  /** Listings with a page that was not answered. */
  get failedListings(): number {
    return this.#failedListings;
  }

  /** Number of ended operations, and of those of unknown outcome. */
  get progress(): { readonly operations: number; readonly unknown: number } {
    return { operations: this.#finished.length, unknown: this.#unknown };
  }

  /** The unexplained error that ended the load; undefined if there is none. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Writes acknowledged so far. */
  get acknowledgedWrites(): number {
    return this.#finished.filter(isAcknowledgedWrite).length;
  }

  /** When writes were acknowledged, by `performance.now()`, in rising order. */
  get writesMs(): readonly number[] {
    return this.#finished.filter(isAcknowledgedWrite).map(({ endMs }) => endMs);
  }

  /** Waits until this many more writes were acknowledged. Rejects if the load has ended. */
  async untilAcknowledged(more: number): Promise<void> {
    const enough = this.acknowledgedWrites + more;
    await until(`${more} more acknowledged writes`, () => {
      if (this.#failure !== undefined) {
        throw this.#failure;
      }
      return this.acknowledgedWrites >= enough;
    });
  }

  /** What happened between two times of `performance.now()`. */
  statistics(fromMs: number, toMs: number): LoadStatistics {
    const finished = this.#finished.filter(({ endMs }) => endMs >= fromMs && endMs <= toMs);
    const writeTimes = finished.filter(isAcknowledgedWrite).map(({ endMs }) => endMs);
    const times = [fromMs, ...writeTimes, toMs];
    const latencies = finished
      .filter(({ outcome }) => outcome === "ok")
      .map(({ durationMs }) => durationMs)
      .sort((a, b) => a - b);
    const failures = new Map<string, number>();
    for (const { failure } of finished) {
      if (failure !== "") {
        failures.set(failure, (failures.get(failure) ?? 0) + 1);
      }
    }
    return {
      acknowledgedWrites: writeTimes.length,
      failed: finished.filter(({ outcome }) => outcome === "not-executed").length,
      unknown: finished.filter(({ outcome }) => outcome === "unknown").length,
      writeGapMs: times.reduce((longest, ms, at) => Math.max(longest, ms - (times[at - 1] ?? ms)), 0),
      latencyMsP50: latencies[Math.floor(latencies.length * 0.5)] ?? 0,
      latencyMsP99: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
      failures,
    };
  }

  async #work(position: number): Promise<void> {
    let endpoints: readonly string[] = [];
    let client: LoadClient | null = null;
    const known = new Map<string, Content>();
    const { clients, restMs = 0 } = this.#options;
    const isReader = position >= clients;
    const name = isReader ? `reader-${position - clients}` : `client-${position}`;
    try {
      while (!this.#isStopping) {
        if (client === null || endpoints !== this.#endpoints) {
          client?.close();
          endpoints = this.#endpoints;
          client = this.#connectAs(position);
        }
        if (isReader && this.#random(LISTING_SHARE) === 0) {
          await this.#list(name, client);
        } else {
          await this.#operate(name, client, isReader ? this.#nextRead() : this.#next(known), known);
        }
        if (restMs > 0) {
          await pause(restMs);
        }
      }
    } finally {
      client?.close();
    }
  }

  #connectAs(position: number): LoadClient {
    const { clients, pinned = 0, timeoutMs = TIMEOUT_MS_DEFAULT } = this.#options;
    const all = this.#endpoints;
    // Readers have a count of their own, so that there is one for each member.
    const own = position < clients ? position : position - clients;
    const endpoints = position < pinned || position >= clients ? [all[own % all.length] as string] : all;
    return this.#connect(endpoints, timeoutMs);
  }

  #connect(endpoints: readonly string[], timeoutMs: number): LoadClient {
    const { connect, tokens: credentials } = this.#options;
    return connect?.(endpoints, timeoutMs) ?? createClient({ endpoints, credentials, timeoutMs });
  }

  async #operate(
    name: string,
    client: LoadClient,
    operation: KeyOperation,
    known: Map<string, Content>,
  ): Promise<OperationOutcome> {
    const open = this.history.begin(name, operation);
    const startMs = performance.now();
    let outcome: OperationOutcome;
    let failure = "";
    try {
      outcome = { kind: "ok", answer: await performKeyOperation(client, operation) };
      learn(known, operation, outcome.answer);
    } catch (thrown) {
      const error = this.#explained(thrown);
      // A failed read has no effect.
      outcome = { kind: operation.kind === "get" ? "not-executed" : error.outcome };
      failure = `${error.code} ${error.reason} ${error.message}`;
    }
    open.end(outcome);
    const endMs = performance.now();
    const isWrite = operation.kind !== "get";
    this.#unknown += Number(outcome.kind === "unknown");
    this.#finished.push({ endMs, durationMs: endMs - startMs, outcome: outcome.kind, isWrite, failure });
    return outcome;
  }

  async #list(name: string, client: LoadClient): Promise<void> {
    const sizeMax = 1 + this.#random(PAGE_SIZE_MAX);
    try {
      for await (const page of listedPages(client, { client: name, prefix: this.#prefix, sizeMax })) {
        this.#pages.push(page);
      }
    } catch (thrown) {
      this.#explained(thrown);
      this.#failedListings++;
    }
  }

  /** The error, if a fault explains it. Otherwise throws it: the open operation stays of unknown outcome. */
  #explained(thrown: unknown): QuoinError {
    const error = QuoinError.from(thrown);
    if (!EXPECTED_CODES.has(error.code) && !this.#options.alsoExpected?.includes(error.code)) {
      throw error;
    }
    return error;
  }

  /** Prefix of all keys in use. */
  get #prefix(): string {
    return `key-${this.#generation}-`;
  }

  #key(): string {
    return `${this.#prefix}${this.#random(this.#options.keys)}`;
  }

  #nextRead(): KeyOperation {
    return { kind: "get", key: this.#key() };
  }

  #next(known: ReadonlyMap<string, Content>): KeyOperation {
    const key = this.#key();
    this.#values++;
    const value = `value-${this.#values}`;
    const dice = this.#random(100);
    if (dice < 40) {
      return { kind: "put", key, value };
    }
    if (dice < 75) {
      return { kind: "get", key };
    }
    if (dice < 82) {
      return { kind: "delete", key };
    }
    return { kind: "compare-and-swap", key, newValue: value, ...this.#expectation(known.get(key)) };
  }

  #expectation(content: Content | undefined): {
    readonly expectedValue?: string;
    readonly expectedModRevision?: number;
  } {
    if (content === undefined) {
      return {};
    }
    return this.#random(2) === 0 ? { expectedValue: content.value } : { expectedModRevision: content.modRevision };
  }
}

/** The content that a client last saw under a key. */
interface Content {
  readonly value: string;
  readonly modRevision: number;
}

function isAcknowledgedWrite({ outcome, isWrite }: Finished): boolean {
  return isWrite && outcome === "ok";
}

function learn(known: Map<string, Content>, operation: KeyOperation, answer: KeyAnswer): void {
  if (answer.kind === "found") {
    known.set(operation.key, { value: answer.value, modRevision: answer.modRevision });
  } else if (answer.kind === "put" && operation.kind === "put") {
    known.set(operation.key, { value: operation.value, modRevision: answer.revision });
  } else if (answer.kind === "not-swapped" && answer.current !== null) {
    known.set(operation.key, answer.current);
  } else if (answer.kind === "absent" || answer.kind === "deleted") {
    known.delete(operation.key);
  }
}
