/** Clients that write keys with a time to live, and read them until they are gone and some time longer. */

import { type Client, QuoinError } from "@quoin/client";
import { type LifetimeOperation, lifetimeCheck } from "../history/index.ts";
import { type ClusterUnderTest, until } from "../test/harness/index.ts";
import { BackgroundClients, outcomeOf } from "./background-load.ts";

const CLIENTS = 2;
const TIMEOUT_MS = 200;
const REST_MS = 40;
/** The shortest life that there is, and a few longer ones. */
const TTL_SECONDS = [1, 2, 5] as const;
/** Keys that are read at a time, by all clients together. */
const WATCHED = 12;
/** A key that was seen to be gone is read so many times more. */
const READS_AFTER_END = 3;
const NAMESPACE = "default";
const LAST_READ_TIMEOUT_MS = 30_000;

interface Watched {
  readonly key: string;
  readsAfterEnd: number;
}

export class LifetimeLoad {
  readonly #cluster: ClusterUnderTest;
  readonly #clients: BackgroundClients;
  readonly #random: (bound: number) => number;
  readonly #operations: LifetimeOperation[] = [];
  readonly #watched: Watched[] = [];
  #keys = 0;

  constructor(cluster: ClusterUnderTest, random: (bound: number) => number) {
    this.#cluster = cluster;
    this.#random = random;
    const options = { name: "lifetime", clients: CLIENTS, timeoutMs: TIMEOUT_MS, restMs: REST_MS };
    this.#clients = new BackgroundClients(cluster, options, (client, name) => this.#turn(client, name));
  }

  get operations(): readonly LifetimeOperation[] {
    return this.#operations;
  }

  get failure(): unknown {
    return this.#clients.failure;
  }

  start(): void {
    this.#clients.start();
  }

  stop(): Promise<void> {
    return this.#clients.stop();
  }

  /** Waits until all keys are gone; to be called when all members serve again. Rejects if one stays. */
  async untilAllGone(): Promise<void> {
    const client = this.#cluster.client();
    const keys = this.#operations.filter(({ kind }) => kind === "put").map(({ key }) => key);
    for (const key of keys) {
      await until(
        `${key} to be gone`,
        async () => !(await this.#read(client, "last-reader", key, LAST_READ_TIMEOUT_MS)),
      );
    }
  }

  /** What contradicts the history, in words. */
  judge(): readonly string[] {
    return lifetimeCheck(this.#operations);
  }

  async #turn(client: Client, name: string): Promise<void> {
    if (this.#watched.length < WATCHED && this.#random(2) === 0) {
      await this.#put(client, name);
      return;
    }
    const at = this.#random(Math.max(1, this.#watched.length));
    const watched = this.#watched[at];
    if (watched === undefined) {
      return;
    }
    const isGone = (await this.#read(client, name, watched.key)) === false;
    if (isGone && ++watched.readsAfterEnd > READS_AFTER_END) {
      this.#watched.splice(this.#watched.indexOf(watched), 1);
    }
  }

  async #put(client: Client, name: string): Promise<void> {
    const key = `lifetime-${this.#keys++}`;
    const ttlSeconds = TTL_SECONDS[this.#random(TTL_SECONDS.length)] ?? TTL_SECONDS[0];
    const fixed = { key, client: name, kind: "put", ttlMs: ttlSeconds * 1_000, isFound: false } as const;
    const startMs = performance.now();
    let outcome: LifetimeOperation["outcome"] = "ok";
    try {
      await client.keyValue.put(NAMESPACE, key, name, { ttlSeconds });
    } catch (error) {
      outcome = outcomeOf(error);
    }
    const endMs = outcome === "unknown" ? Number.POSITIVE_INFINITY : performance.now();
    this.#operations.push({ ...fixed, startMs, endMs, outcome });
    this.#watched.push({ key, readsAfterEnd: 0 });
  }

  /** Whether the key is there; null if nobody has told. */
  async #read(client: Client, name: string, key: string, timeoutMs = TIMEOUT_MS): Promise<boolean | null> {
    const startMs = performance.now();
    let isFound: boolean | null = true;
    try {
      await client.keyValue.get(NAMESPACE, key, { timeoutMs });
    } catch (error) {
      isFound = error instanceof QuoinError && error.reason === "KEY_NOT_FOUND" ? false : null;
      if (isFound === null) {
        outcomeOf(error);
      }
    }
    const fixed = { key, client: name, kind: "get", ttlMs: 0, startMs, endMs: performance.now() } as const;
    this.#operations.push({ ...fixed, outcome: isFound === null ? "not-executed" : "ok", isFound: isFound === true });
    return isFound;
  }
}
