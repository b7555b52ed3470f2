/**
 * Clients that append to a few event logs at the same time, and write down what they did and were told.
 *
 * They use the SDK as an application would: its attempts share one idempotency key and are one recorded operation. Some
 * appends repeat a key that somebody used, under a payload of their own; some expect the last sequence that their client
 * knows, as others do; some batches are cut off by their client in the middle of the body, and must never be seen.
 */

import { request } from "node:http";
import { type Client, createClient, QuoinError, type TokenSource } from "@quoin/client";
import { type AskedEvent, type EventLogAnswer, type EventLogOperation, History } from "../../history/index.ts";
import { seededRandom } from "../../src/replica/index.ts";
import { pause, until } from "./until.ts";

interface AppendLoadOptions {
  readonly tokens: TokenSource;
  readonly endpoints: readonly string[];
  /** URLs. */
  readonly httpEndpoints: readonly string[];
  readonly clients: number;
  /** Event logs that are appended to. */
  readonly logs: number;
  readonly seed: number;
  /** Begins the names of the logs. */
  readonly name: string;
  /** Deadline of each append, over all attempts. */
  readonly timeoutMs: number;
  /** How long each client rests between two appends. */
  readonly restMs?: number;
}

type Append = Extract<EventLogOperation, { readonly kind: "append" }>;

/** How much was appended, by what became of it. */
interface AppendCounts {
  readonly stored: number;
  readonly conflicts: number;
  readonly notExecuted: number;
  readonly unknown: number;
}

const BATCH_EVENTS_MAX = 10;
/** Keys that are repeated are among so many that were used last. */
const KEYS_KEPT = 100;
const PAGE = 1_000;
/** In percent of all appends. */
const DUPLICATES = 15;
const EXPECTATIONS = 15;
const BATCHES = 20;
const CUT_OFF = 5;
const READ_TIMEOUT_MS = 30_000;
/** What is announced of a body that is cut off, and never comes. */
const MISSING_BYTES = 100;
/** A member or the way to it was lost; anything else would be a bug of the service or of this load. */
const EXPECTED_CODES: ReadonlySet<string> = new Set(["UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"]);

export class AppendLoad {
  readonly history = new History<EventLogOperation, EventLogAnswer>(() => performance.now());
  readonly #options: AppendLoadOptions;
  readonly #random: (bound: number) => number;
  readonly #logIds: string[] = [];
  readonly #keys: string[] = [];
  #payloads = 0;
  #acknowledged = 0;
  #isStopping = false;
  #workers: Promise<unknown> = Promise.resolve();
  #failure: unknown;

  constructor(options: AppendLoadOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
  }

  /** Makes the logs, and lets the clients begin. They go on until `stop`. */
  async start(): Promise<void> {
    const maker = this.#connect(READ_TIMEOUT_MS);
    try {
      for (let at = 0; at < this.#options.logs; at++) {
        this.#logIds.push((await maker.logs.create(`${this.#options.name}-${at}`)).logId);
      }
    } finally {
      maker.close();
    }
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

  /** Lets every client finish its append and end. Rejects if one met an error that no fault explains. */
  async stop(): Promise<void> {
    this.abandon();
    await this.ended;
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
  }

  /** Lets every client end after its append, without waiting for that. */
  abandon(): void {
    this.#isStopping = true;
  }

  /** Fulfilled when all clients have ended. */
  get ended(): Promise<unknown> {
    return this.#workers;
  }

  /** The error that ended the load, which no fault explains; undefined if there is none. */
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

  /** Waits until so many more appends were acknowledged. Rejects if the load has ended. */
  async untilAcknowledged(more: number): Promise<void> {
    const enough = this.#acknowledged + more;
    await until(`${more} more acknowledged appends`, () => {
      if (this.#failure !== undefined) {
        throw this.#failure;
      }
      return this.#acknowledged >= enough;
    });
  }

  /** Reads all of every log, to be called after `stop`: the history then shows what has become of every append. */
  async readAll(): Promise<void> {
    const client = this.#connect(READ_TIMEOUT_MS);
    try {
      for (const log of this.#logIds) {
        for (let fromSequence = 1, isMore = true; isMore; fromSequence += PAGE) {
          const open = this.history.begin("last-reader", { log, kind: "read", fromSequence });
          const page = await client.logs.read(log, { fromSequence, limit: PAGE });
          const events = page.events.map(({ sequence, key = null, payload }) => {
            return { sequence, key, payload: Buffer.from(payload).toString() };
          });
          const { lastSequence } = page;
          open.end({ kind: "ok", answer: { kind: "events", events, lastSequence } });
          isMore = fromSequence + PAGE <= lastSequence;
        }
      }
    } finally {
      client.close();
    }
  }

  #connect(timeoutMs: number): Client {
    const { tokens: credentials, endpoints, httpEndpoints } = this.#options;
    return createClient({ endpoints, httpEndpoints, credentials, timeoutMs });
  }

  async #work(name: string): Promise<void> {
    const client = this.#connect(this.#options.timeoutMs);
    /** The last sequence that this client knows of each log. */
    const known = new Map<string, number>();
    const { restMs = 0 } = this.#options;
    try {
      while (!this.#isStopping) {
        await (this.#random(100) < CUT_OFF ? this.#cutOff(name) : this.#append(name, client, known));
        if (restMs > 0) {
          await pause(restMs);
        }
      }
    } finally {
      client.close();
    }
  }

  async #append(name: string, client: Client, known: Map<string, number>): Promise<void> {
    const { base, operation } = this.#next(known);
    const { log, events, expectedSequence } = operation;
    const open = this.history.begin(name, operation);
    const options = {
      key: base,
      ...(expectedSequence !== undefined && { expectedSequence: Number(expectedSequence) }),
    };
    const [first] = events as [AskedEvent];
    try {
      const sequences =
        first.key === base
          ? [(await client.logs.append(log, first.payload, options)).sequence]
          : (
              await client.logs.appendBatch(
                log,
                events.map(({ payload }) => payload),
                options,
              )
            ).sequences;
      // The attempt that stored it need not be the one that was answered: whether it was new is seen by its payload.
      open.end({ kind: "ok", answer: { kind: "appended", sequences, replayed: false } });
      known.set(log, Math.max(known.get(log) ?? 0, ...sequences));
      this.#acknowledged++;
    } catch (thrown) {
      const error = QuoinError.from(thrown);
      const lastSequence = Number(error.details.get("last_sequence"));
      if (error.reason === "SEQUENCE_CONFLICT") {
        open.end({ kind: "ok", answer: { kind: "conflict", lastSequence } });
        known.set(log, lastSequence);
      } else if (EXPECTED_CODES.has(error.code)) {
        open.end({ kind: error.outcome });
      } else {
        throw error;
      }
    }
  }

  /** Sends the beginning of a batch and breaks the connection: what is not whole is nothing. */
  async #cutOff(name: string): Promise<void> {
    const { base, operation } = this.#next(new Map(), true);
    const endpoints = this.#options.httpEndpoints;
    const endpoint = endpoints[this.#random(endpoints.length)];
    const body = Buffer.from(operation.events.map(({ payload }) => `${payload}\n`).join(""));
    const authorization = `Bearer ${await this.#options.tokens.token()}`;
    const open = this.history.begin(name, operation);
    const client = request(`${endpoint}/logs/${operation.log}/append_batch?delimiter=%0A`, {
      method: "POST",
      agent: false,
      headers: { authorization, "idempotency-key": base, "content-length": body.length + MISSING_BYTES },
    });
    // A member that is gone, or answers before it has all, changes nothing of it.
    client.on("error", () => undefined).on("response", (response) => response.resume());
    const closed = new Promise((resolve) => client.once("close", resolve));
    client.write(body, () => client.destroy());
    await closed;
    open.end({ kind: "not-executed" });
  }

  #next(
    known: ReadonlyMap<string, number>,
    isBatch = this.#random(100) < BATCHES,
  ): { base: string; operation: Append } {
    const log = this.#logIds[this.#random(this.#logIds.length)] as string;
    const count = isBatch ? 1 + this.#random(BATCH_EVENTS_MAX) : 1;
    const payloads = Array.from({ length: count }, () => `event ${this.#payloads++}`);
    const kind = isBatch ? "batch" : "event";
    const isRepeated = this.#random(100) < DUPLICATES;
    const used = this.#keys.filter((key) => key.startsWith(kind));
    const repeated = isRepeated ? used[this.#random(Math.max(used.length, 1))] : undefined;
    const base = repeated ?? `${kind}-${this.#payloads}`;
    if (repeated === undefined) {
      this.#keys.push(base);
      this.#keys.splice(0, this.#keys.length - KEYS_KEPT);
    }
    const events = payloads.map((payload, at) => ({ key: isBatch ? `${base}:${at}` : base, payload }));
    const expects = this.#random(100) < EXPECTATIONS && known.has(log);
    return {
      base,
      operation: { log, kind: "append", events, ...(expects && { expectedSequence: String(known.get(log)) }) },
    };
  }
}
