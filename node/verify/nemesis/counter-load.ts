/**
 * Clients that count. Every increment has a request id, and is retried with it, at one member after the other, until a
 * member returns its result or the attempts are used up.
 */

import { randomUUID } from "node:crypto";
import type { Client } from "@quoin/client";
import { type ClusterUnderTest, pause } from "../../test/harness/index.ts";
import { type CountedRequest, exactlyOnceCheck } from "../history/index.ts";
import { BackgroundLoad, outcomeOf } from "./background-load.ts";
import { pick } from "./fault.ts";

const CLIENTS = 3;
const COUNTERS = 2;
const REST_MS = 40;
/** Takes some seconds, which is shorter than the time for which answers are kept. */
const TRIES_MAX = 25;
const NAMESPACE = "default";
const LAST_READ_TIMEOUT_MS = 30_000;

export class CounterLoad extends BackgroundLoad {
  readonly #cluster: ClusterUnderTest;
  readonly #timeoutMs: number;
  readonly #random: (bound: number) => number;
  readonly #byEndpoint = new Map<string, Client>();
  readonly #increments: CountedRequest[] = [];
  readonly #versions = new Map<string, number>();
  #retried = 0;

  constructor(cluster: ClusterUnderTest, timeoutMs: number, random: (bound: number) => number) {
    super(cluster, { name: "counter", clients: CLIENTS, timeoutMs, restMs: REST_MS });
    this.#cluster = cluster;
    this.#timeoutMs = timeoutMs;
    this.#random = random;
  }

  get increments(): readonly CountedRequest[] {
    return this.#increments;
  }

  /** Increments that were acknowledged after an attempt of unknown outcome. */
  get retried(): number {
    return this.#retried;
  }

  /** Reads all counters. All members must serve again. Rejects if one cannot be read. */
  async readAll(): Promise<void> {
    const client = this.#cluster.client();
    for (const counter of new Set(this.#increments.map(({ key }) => key))) {
      const { version } = await client.keyValue.get(NAMESPACE, counter, { timeoutMs: LAST_READ_TIMEOUT_MS });
      this.#versions.set(counter, version);
    }
  }

  /** Descriptions of contradictions to the acknowledged increments. `readAll` must be called first. */
  judge(): readonly string[] {
    return exactlyOnceCheck(this.#increments, this.#versions);
  }

  protected override async turn(_client: Client, name: string): Promise<void> {
    const key = `counter-${this.#random(COUNTERS)}`;
    const requestId = randomUUID();
    // Once the outcome is unknown it stays so: a later refusal concerns only the later attempt.
    let refused: "not-executed" | "unknown" = "not-executed";
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      try {
        const { modRevision: revision } = await this.#nextClient().keyValue.put(NAMESPACE, key, name, {
          requestId,
          timeoutMs: this.#timeoutMs,
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

  /** A client of one random member. */
  #nextClient(): Client {
    const endpoint = pick(this.#random, this.#cluster.endpoints);
    const client = this.#byEndpoint.get(endpoint) ?? this.#cluster.client([endpoint]);
    this.#byEndpoint.set(endpoint, client);
    return client;
  }
}
