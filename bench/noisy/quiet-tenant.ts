/**
 * The tenant that must notice nothing: 20 puts, 20 gets and 20 watched changes a second, through the SDK, with the
 * endpoints of all members. A call counts from when it was due, so that a member that stands still counts with every
 * call that it delays.
 */

import { type Client, createClient, type KeyEvent, type TokenSource, type Watch } from "@quoin/client";
import { percentile } from "../measuring/index.ts";

const PER_SECOND = 20;
const INTERVAL_MS = 1_000 / PER_SECOND;
const KEYS = 50;

/** What the tenant noticed. */
export interface Experience {
  readonly put: Delays;
  readonly get: Delays;
  /** From when a put was due until its change arrived. */
  readonly watch: Delays;
  /** Calls that failed although the SDK has tried again. */
  readonly failed: number;
}

export interface Delays {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export class QuietTenant {
  readonly #client: Client;
  readonly #namespace: string;
  #put: number[] = [];
  #get: number[] = [];
  #watch: number[] = [];
  #failed = 0;
  /** When the put with this value was due. */
  readonly #due = new Map<string, number>();
  #next = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(endpoints: readonly string[], tokens: TokenSource, namespace: string) {
    this.#client = createClient({ endpoints, credentials: tokens });
    this.#namespace = namespace;
  }

  /** Begins, and resolves when everything has worked once. */
  async start(): Promise<void> {
    const watch = await this.#client.watch.keys(this.#namespace, { prefix: "key-" });
    // It ends when the client is closed.
    this.#follow(watch).catch(() => undefined);
    await this.#client.keyValue.put(this.#namespace, "first", "value");
    this.#schedule(performance.now());
  }

  /** What the tenant noticed since the last call. A change that is long due counts with its age, and as lost. */
  take(): Experience {
    const nowMs = performance.now();
    const lost: number[] = [];
    for (const [value, dueMs] of this.#due) {
      if (nowMs - dueMs > INTERVAL_MS * 2) {
        lost.push(nowMs - dueMs);
        this.#due.delete(value);
      }
    }
    const experience = {
      put: delaysOf(this.#put),
      get: delaysOf(this.#get),
      watch: delaysOf([...this.#watch, ...lost]),
      failed: this.#failed,
    };
    [this.#put, this.#get, this.#watch, this.#failed] = [[], [], [], 0];
    return experience;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#client.close();
  }

  /** Makes the calls that are due at this time, and all later ones; the timer may be late, and so several may be due. */
  #schedule(dueMs: number): void {
    let nextMs = dueMs;
    for (; nextMs <= performance.now(); nextMs += INTERVAL_MS) {
      this.#once(nextMs);
    }
    this.#timer = setTimeout(() => this.#schedule(nextMs), Math.max(0, nextMs - performance.now()));
  }

  #once(dueMs: number): void {
    const value = String(this.#next++);
    const key = `key-${this.#next % KEYS}`;
    this.#due.set(value, dueMs);
    const { keyValue } = this.#client;
    const noted = (into: number[], call: Promise<unknown>): void => {
      call.then(
        () => into.push(performance.now() - dueMs),
        () => {
          this.#failed++;
          into.push(performance.now() - dueMs);
        },
      );
    };
    noted(this.#put, keyValue.put(this.#namespace, key, value));
    noted(this.#get, keyValue.get(this.#namespace, "first"));
  }

  async #follow(watch: Watch<KeyEvent>): Promise<void> {
    for await (const { events } of watch) {
      for (const { kv } of events) {
        const value = Buffer.from(kv.value).toString();
        const dueMs = this.#due.get(value);
        if (dueMs !== undefined) {
          this.#due.delete(value);
          this.#watch.push(performance.now() - dueMs);
        }
      }
    }
  }
}

function delaysOf(delays: readonly number[]): Delays {
  const ascending = Float64Array.from(delays).sort();
  return {
    count: ascending.length,
    p50Ms: percentile(ascending, 50),
    p99Ms: percentile(ascending, 99),
    maxMs: ascending.at(-1) ?? 0,
  };
}
