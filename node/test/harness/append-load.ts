/**
 * Clients that append to a few event logs at the same time and read them, and record their operations and answers.
 *
 * Most use the SDK as an application would: its attempts share one idempotency key and are one recorded operation. Some
 * appends repeat a used key with a payload of their own. Some expect the last sequence that their client knows, as
 * others do. Some have no key, and are sent once. Some clients cut a batch off in the middle of the body; it must never
 * be seen.
 */

import { createClient, QuoinError } from "@quoin/client";
import { seededRandom } from "../../src/replica/index.ts";
import { type AskedEvent, type EventLogAnswer, type EventLogOperation, History } from "../../verify/history/index.ts";
import type { ClusterUnderTest } from "./cluster-under-test.ts";
import type { Connect, LoadClient } from "./load-client.ts";
import { type AppendTarget, appendOnce, cutOffBatch } from "./raw-appends.ts";
import { pause, until } from "./until.ts";

interface AppendLoadOptions {
  /** The present members; clients follow them. */
  readonly cluster: Pick<ClusterUnderTest, "tokens" | "endpoints" | "httpEndpoints">;
  readonly clients: number;
  /** Number of event logs in use at a time. */
  readonly logs: number;
  /** Operations on a log before another one takes its place. By default it stays. */
  readonly operationsMax?: number;
  readonly seed: number;
  /** Prefix of the names of the logs. */
  readonly name: string;
  /** Deadline of each operation, over all attempts. */
  readonly timeoutMs: number;
  /** How long each client rests between two operations. */
  readonly restMs?: number;
  /** Makes the clients of what has a key. By default those of the TypeScript SDK. */
  readonly connect?: Connect | undefined;
  /** Codes to expect here, in addition to those of a lost member. */
  readonly alsoExpected?: readonly string[];
}

type Append = Extract<EventLogOperation, { readonly kind: "append" }>;

/** Numbers of appends, by outcome. */
interface AppendCounts {
  readonly stored: number;
  readonly conflicts: number;
  readonly notExecuted: number;
  readonly unknown: number;
}

interface LogInUse {
  readonly id: string;
  operations: number;
  /** The keys that were used last. */
  readonly keys: string[];
}

/** The next append. A null key = without a key, so it is sent once. */
interface NextAppend {
  readonly base: string | null;
  readonly operation: Append;
}

const BATCH_EVENTS_MAX = 10;
/** Repeated keys come from this many keys that were used last in a log. */
const KEYS_KEPT = 50;
/** One repeated key in this many is used in another log, where it is another key. */
const KEYS_OF_ANOTHER_LOG = 4;
const PAGE = 1_000;
/** Percentage of all turns. */
const READS = 15;
const CUT_OFF = 5;
/** Percentage of all appends. */
const BATCHES = 20;
const KEYLESS = 15;
/** Percentage of the appends with a key. */
const DUPLICATES = 20;
/**
 * Percentage of the appends with a new key, and of those with a repeated one, which are answered before the sequence is
 * compared.
 */
const EXPECTATIONS = 15;
const EXPECTATIONS_OF_DUPLICATES = 50;
/** Most pages contain the newest events that a client knows, and some before them. */
const EVENTS_READ_AGAIN = 20;
const EVENTS_READ = 50;
const READ_TIMEOUT_MS = 30_000;
/** A member or the way to it was lost; any other code would be a bug of the service or of this load. */
const EXPECTED_CODES: ReadonlySet<string> = new Set(["UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"]);

export class AppendLoad {
  readonly history = new History<EventLogOperation, EventLogAnswer>(() => performance.now());
  readonly #options: AppendLoadOptions;
  readonly #random: (bound: number) => number;
  readonly #expected: ReadonlySet<string>;
  /** Ids of all logs that were ever created. */
  readonly #logIds: string[] = [];
  readonly #inUse = new Map<number, LogInUse>();
  #making: Promise<void> | null = null;
  #names = 0;
  #payloads = 0;
  #acknowledged = 0;
  #replayed = 0;
  #isStopping = false;
  #workers: Promise<unknown> = Promise.resolve();
  #failure: unknown;

  constructor(options: AppendLoadOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.#expected = new Set([...EXPECTED_CODES, ...(options.alsoExpected ?? [])]);
  }

  /** Starts the clients, which create their logs. They go on until `stop`. */
  start(): void {
    const work = async (position: number): Promise<void> => {
      try {
        await this.#work(`appender-${position}`);
      } catch (error) {
        this.#failure ??= error;
        this.#isStopping = true;
      }
    };
    this.#workers = Promise.all(Array.from({ length: this.#options.clients }, (_, at) => work(at)));
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

  /** The unexplained error that ended the load; undefined if there is none. */
  get failure(): unknown {
    return this.#failure;
  }

  get counts(): AppendCounts {
    const { operations } = this.history;
    const appends = operations.filter(({ operation }) => operation.kind === "append");
    const count = (kind: string) =>
      appends.filter(({ outcome }) => (outcome.kind === "ok" ? outcome.answer.kind : outcome.kind) === kind).length;
    return {
      stored: count("appended"),
      conflicts: count("conflict"),
      notExecuted: count("not-executed"),
      unknown: count("unknown"),
    };
  }

  /** Its results, in words. */
  describe(): readonly string[] {
    const { stored, conflicts } = this.counts;
    const kinds = `acknowledged ${stored}  of which stored before ${this.#replayed}  conflicts ${conflicts}`;
    return [`event logs ${this.#logIds.length}: ${kinds}`];
  }

  /** Waits until this many more appends were acknowledged. Rejects if the load has ended. */
  async untilAcknowledged(more: number): Promise<void> {
    const enough = this.#acknowledged + more;
    await until(`${more} more acknowledged appends`, () => {
      if (this.#failure !== undefined) {
        throw this.#failure;
      }
      return this.#acknowledged >= enough;
    });
  }

  /** Reads every log completely. Call it after `stop`: the history then shows the outcome of every append. */
  async readAll(): Promise<void> {
    const client = this.#connect(READ_TIMEOUT_MS);
    try {
      for (const log of this.#logIds) {
        // A read that ends before the last sequence is repeated from there, so that missing events show.
        for (let fromSequence = 1, isMore = true; isMore; ) {
          const { events, lastSequence } = await this.#readPage("last-reader", client, log, fromSequence, PAGE);
          fromSequence += events.length;
          isMore = events.length > 0 && fromSequence <= lastSequence;
        }
      }
    } finally {
      client.close();
    }
  }

  #connect(timeoutMs: number): LoadClient {
    const { cluster, connect } = this.#options;
    const { tokens: credentials, endpoints } = cluster;
    return connect?.(endpoints, timeoutMs) ?? createClient({ endpoints, credentials, timeoutMs });
  }

  async #work(name: string): Promise<void> {
    const { cluster, timeoutMs, restMs = 0 } = this.#options;
    /** By log, the last sequence that this client knows. */
    const known = new Map<string, number>();
    let connectedTo = "";
    let client: LoadClient | null = null;
    try {
      while (!this.#isStopping) {
        const present = cluster.endpoints.join();
        if (client === null || connectedTo !== present) {
          client?.close();
          client = this.#connect(timeoutMs);
          connectedTo = present;
        }
        await this.#turn(name, client, known);
        if (restMs > 0) {
          await pause(restMs);
        }
      }
    } finally {
      client?.close();
    }
  }

  async #turn(name: string, client: LoadClient, known: Map<string, number>): Promise<void> {
    const log = await this.#anyLog(client);
    if (log === null) {
      return;
    }
    log.operations++;
    const dice = this.#random(100);
    if (dice < READS) {
      await this.#read(name, client, log, known);
    } else if (dice < READS + CUT_OFF) {
      await this.#cutOff(name, log);
    } else {
      const next = this.#next(log, known.get(log.id));
      await (next.base === null
        ? this.#appendOnce(name, next.operation, known)
        : this.#append(name, client, next.base, next.operation, known));
    }
  }

  /** One of the logs in use; null while its replacement cannot be created. */
  async #anyLog(client: LoadClient): Promise<LogInUse | null> {
    const { logs, operationsMax = Number.POSITIVE_INFINITY } = this.#options;
    const at = this.#random(logs);
    const isGood = (log: LogInUse | undefined) => log !== undefined && log.operations < operationsMax;
    if (!isGood(this.#inUse.get(at))) {
      this.#making ??= this.#makeLog(client, at).finally(() => {
        this.#making = null;
      });
      await this.#making;
    }
    const log = this.#inUse.get(at);
    return log !== undefined && isGood(log) ? log : null;
  }

  async #makeLog(client: LoadClient, at: number): Promise<void> {
    try {
      // A name is used once: if the answer is lost, the id of the log is unknown.
      const { logId: id } = await client.logs.create(`${this.#options.name}-${this.#names++}`);
      this.#logIds.push(id);
      this.#inUse.set(at, { id, operations: 0, keys: [] });
    } catch (thrown) {
      this.#requireExpected(thrown);
    }
  }

  async #read(name: string, client: LoadClient, log: LogInUse, known: Map<string, number>): Promise<void> {
    const last = known.get(log.id) ?? 0;
    const fromSequence = Math.max(1, last - this.#random(EVENTS_READ_AGAIN));
    const page = await this.#readPage(name, client, log.id, fromSequence, EVENTS_READ).catch((thrown: unknown) => {
      this.#requireExpected(thrown);
      return null;
    });
    if (page !== null) {
      known.set(log.id, Math.max(last, page.lastSequence));
    }
  }

  /** Reads a page and records it. Rejects afterwards if it could not be read. */
  async #readPage(name: string, client: LoadClient, log: string, fromSequence: number, limit: number) {
    const open = this.history.begin(name, { log, kind: "read", fromSequence });
    try {
      const page = await client.logs.read(log, { fromSequence, limit });
      const events = page.events.map(({ sequence, key = null, payload }) => {
        return { sequence, key, payload: Buffer.from(payload).toString() };
      });
      open.end({ kind: "ok", answer: { kind: "events", events, lastSequence: page.lastSequence } });
      return page;
    } catch (error) {
      // A failed read has no effect.
      open.end({ kind: "not-executed" });
      throw error;
    }
  }

  async #append(
    name: string,
    client: LoadClient,
    key: string,
    operation: Append,
    known: Map<string, number>,
  ): Promise<void> {
    const { log, events, expectedSequence } = operation;
    const open = this.history.begin(name, operation);
    const options = {
      key,
      ...(expectedSequence !== undefined && { expectedSequence: Number(expectedSequence) }),
    };
    const [first] = events as [AskedEvent];
    try {
      const { sequences = [], replayed } =
        first.key === key
          ? await client.logs.append(log, first.payload, options).then(({ sequence, ...rest }) => {
              return { sequences: [sequence], ...rest };
            })
          : await client.logs.appendBatch(
              log,
              events.map(({ payload }) => payload),
              options,
            );
      // An earlier attempt may have stored it, so the answer does not say whether it was new: its payload shows that.
      open.end({ kind: "ok", answer: { kind: "appended", sequences, replayed: false } });
      known.set(log, Math.max(known.get(log) ?? 0, ...sequences));
      this.#replayed += Number(replayed);
      this.#acknowledged++;
    } catch (thrown) {
      const error = QuoinError.from(thrown);
      const lastSequence = Number(error.details.get("last_sequence"));
      if (error.reason === "SEQUENCE_CONFLICT") {
        open.end({ kind: "ok", answer: { kind: "conflict", lastSequence } });
        known.set(log, lastSequence);
      } else {
        this.#requireExpected(error);
        open.end({ kind: error.outcome });
      }
    }
  }

  /** Appends an event without a key, which is never sent again. */
  async #appendOnce(name: string, operation: Append, known: Map<string, number>): Promise<void> {
    const { log, events, expectedSequence } = operation;
    const [{ payload }] = events as [AskedEvent];
    const target = await this.#target(log);
    if (target === null) {
      return;
    }
    const open = this.history.begin(name, operation);
    const sent = await appendOnce(target, payload, expectedSequence);
    switch (sent.kind) {
      case "appended":
        open.end({ kind: "ok", answer: { kind: "appended", sequences: [sent.sequence], replayed: false } });
        known.set(log, sent.sequence);
        this.#acknowledged++;
        break;
      case "conflict":
        open.end({ kind: "ok", answer: sent });
        known.set(log, sent.lastSequence);
        break;
      case "unknown":
        open.end(sent);
        break;
      case "refused":
        open.end({ kind: "not-executed" });
        this.#requireExpectedRefusal(sent);
    }
  }

  /** Begins a batch and cuts it off. */
  async #cutOff(name: string, log: LogInUse): Promise<void> {
    const { base, operation } = this.#nextBatch(log);
    const target = await this.#target(log.id);
    if (target === null) {
      return;
    }
    const open = this.history.begin(name, operation);
    await cutOffBatch(
      target,
      base,
      operation.events.map(({ payload }) => payload),
    );
    open.end({ kind: "not-executed" });
  }

  #next(log: LogInUse, lastKnown: number | undefined): NextAppend {
    const isBatch = this.#random(100) < BATCHES;
    if (!isBatch && this.#random(100) < KEYLESS) {
      return { base: null, operation: this.#expecting(this.#appendOf(log, null), EXPECTATIONS, lastKnown) };
    }
    const kind = isBatch ? "batch" : "event";
    const used = this.#keysToRepeat(log).filter((key) => key.startsWith(kind));
    const repeated = this.#random(100) < DUPLICATES ? used[this.#random(Math.max(used.length, 1))] : undefined;
    const { base, operation } = isBatch ? this.#nextBatch(log, repeated) : this.#nextEvent(log, repeated);
    const expectations = repeated === undefined ? EXPECTATIONS : EXPECTATIONS_OF_DUPLICATES;
    return { base, operation: this.#expecting(operation, expectations, lastKnown) };
  }

  #nextEvent(log: LogInUse, base = this.#newKey(log, "event")) {
    return { base, operation: this.#appendOf(log, base) };
  }

  #nextBatch(log: LogInUse, base = this.#newKey(log, "batch")) {
    const count = 1 + this.#random(BATCH_EVENTS_MAX);
    const events = Array.from({ length: count }, (_, at) => ({ key: `${base}:${at}`, payload: this.#newPayload() }));
    const operation: Append = { log: log.id, kind: "append", events };
    return { base, operation };
  }

  #appendOf({ id }: LogInUse, key: string | null): Append {
    return { log: id, kind: "append", events: [{ key, payload: this.#newPayload() }] };
  }

  /** Sometimes adds the sequence that its client knows as the expected one. */
  #expecting(operation: Append, percent: number, lastKnown: number | undefined): Append {
    const expects = this.#random(100) < percent && lastKnown !== undefined;
    return expects ? { ...operation, expectedSequence: String(lastKnown) } : operation;
  }

  #keysToRepeat(log: LogInUse): readonly string[] {
    const isOfAnother = this.#random(KEYS_OF_ANOTHER_LOG) === 0;
    return isOfAnother ? [...this.#inUse.values()].flatMap(({ keys }) => keys) : log.keys;
  }

  #newKey({ keys }: LogInUse, kind: "event" | "batch"): string {
    const key = `${kind}-${this.#payloads}`;
    keys.push(key);
    keys.splice(0, keys.length - KEYS_KEPT);
    return key;
  }

  #newPayload(): string {
    return `event ${this.#payloads++}`;
  }

  /** A random member; null if none issues a token now. */
  async #target(log: string): Promise<AppendTarget | null> {
    const { cluster, timeoutMs } = this.#options;
    try {
      const token = await cluster.tokens.token();
      const endpoint = cluster.httpEndpoints[this.#random(cluster.httpEndpoints.length)] ?? "";
      return { endpoint, log, token, timeoutMs };
    } catch (thrown) {
      this.#requireExpected(thrown);
      return null;
    }
  }

  #requireExpectedRefusal({ code, message }: { readonly code: string; readonly message: string }): void {
    if (code !== "unavailable" && !(code === "storage_full" && this.#expected.has("RESOURCE_EXHAUSTED"))) {
      throw new Error(`an append without a key was refused with ${code}: ${message}`);
    }
  }

  #requireExpected(thrown: unknown): void {
    const error = QuoinError.from(thrown);
    if (!this.#expected.has(error.code)) {
      throw error;
    }
  }
}
