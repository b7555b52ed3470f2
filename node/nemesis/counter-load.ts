/**
 * Clients that count: every increment has a request id, and is sent again with it, to one member after the other, until
 * somebody says what has become of it or it was tried often enough.
 */

import { randomUUID } from "node:crypto";
import type { Client } from "@quoin/client";
import { type CountedRequest, exactlyOnceCheck } from "../history/index.ts";
import { type ClusterUnderTest, pause } from "../test/harness/index.ts";
import { BackgroundClients, outcomeOf } from "./background-load.ts";
import { pick } from "./fault.ts";

const CLIENTS = 3;
const COUNTERS = 2;
const TIMEOUT_MS = 200;
const REST_MS = 40;
/** Some seconds, which is less than answers are kept for. */
const TRIES_MAX = 25;
const NAMESPACE = "default";
const LAST_READ_TIMEOUT_MS = 30_000;

export class CounterLoad {
  readonly #cluster: ClusterUnderTest;
  readonly #clients: BackgroundClients;
  readonly #random: (bound: number) => number;
  readonly #byEndpoint = new Map<string, Client>();
  readonly #increments: CountedRequest[] = [];
  readonly #versions = new Map<string, number>();
  #retried = 0;

  constructor(cluster: ClusterUnderTest, random: (bound: number) => number) {
    this.#cluster = cluster;
    this.#random = random;
    const options = { name: "counter", clients: CLIENTS, timeoutMs: TIMEOUT_MS, restMs: REST_MS };
    this.#clients = new BackgroundClients(cluster, options, (_client, name) => this.#increment(name));
  }

  get increments(): readonly CountedRequest[] {
    return this.#increments;
  }

  /** Increments that were acknowledged after an attempt of unknown outcome. */
  get retried(): number {
    return this.#retried;
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

  /** Reads all counters; to be called when all members serve again. Rejects if one cannot be read. */
  async readAll(): Promise<void> {
    const client = this.#cluster.client();
    for (const counter of new Set(this.#increments.map(({ key }) => key))) {
      const { version } = await client.keyValue.get(NAMESPACE, counter, { timeoutMs: LAST_READ_TIMEOUT_MS });
      this.#versions.set(counter, version);
    }
  }

  /** What contradicts what was acknowledged, in words; to be called after `readAll`. */
  judge(): readonly string[] {
    return exactlyOnceCheck(this.#increments, this.#versions);
  }

  async #increment(name: string): Promise<void> {
    const key = `counter-${this.#random(COUNTERS)}`;
    const requestId = randomUUID();
    // Once it is unknown, no later refusal makes it known: that is about the later attempt alone.
    let refused: "not-executed" | "unknown" = "not-executed";
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      try {
        const { modRevision: revision } = await this.#nextClient().keyValue.put(NAMESPACE, key, name, {
          ...{ requestId, timeoutMs: TIMEOUT_MS },
        });
        this.#increments.push({ requestId, key, outcome: "acknowledged", revision });
        this.#retried += Number(refused === "unknown");
        return;
      } catch (error) {
        if (outcomeOf(error) === "unknown") {
          refused = "unknown";
        } else if (refused === "not-executed") {
          break;
        }
        await pause(REST_MS);
      }
    }
    this.#increments.push({ requestId, key, outcome: refused });
  }

  /** A client of some member alone: which one it is differs from try to try. */
  #nextClient(): Client {
    const endpoint = pick(this.#random, this.#cluster.endpoints);
    const client = this.#byEndpoint.get(endpoint) ?? this.#cluster.client([endpoint]);
    this.#byEndpoint.set(endpoint, client);
    return client;
  }
}
