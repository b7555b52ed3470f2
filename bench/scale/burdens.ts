/** What costs a member something although nothing happens: held locks, sessions, watches, and event logs. */

import type { Client } from "@quoin/client";
import { mapWithLimit } from "../../testing/index.ts";
import { QuoinWatches } from "../clusters/index.ts";
import { ScaleError } from "./disk-guard.ts";
import type { BurdenCounts } from "./options.ts";

export interface Burden {
  readonly name: string;
  readonly count: number;
  /** Makes all of them. */
  readonly make: () => Promise<void>;
}

const NAMESPACE = "burdens";
/** They must stay without a renewal. */
const TTL_SECONDS = 86_400;
const AT_ONCE = 64;
const WATCHES_PER_CONNECTION = 500;

export class Burdens {
  readonly #client: Client;
  readonly #endpoints: readonly string[];
  readonly #token: string;
  readonly #connections: QuoinWatches[] = [];
  #failedWatches = 0;

  constructor(client: Client, endpoints: readonly string[], token: string) {
    this.#client = client;
    this.#endpoints = endpoints;
    this.#token = token;
  }

  /** Each kind, to be made one after the other. */
  async prepare(counts: BurdenCounts): Promise<readonly Burden[]> {
    const { keyValue, locks, sessions, logs } = this.#client;
    await keyValue.createNamespace(NAMESPACE);
    return [
      {
        name: "held locks",
        count: counts.locks,
        make: () =>
          each(counts.locks, async (at) => {
            await locks.create(NAMESPACE, `lock-${at}`);
            await locks.acquire(NAMESPACE, `lock-${at}`, { ttlSeconds: TTL_SECONDS });
          }),
      },
      {
        name: "sessions",
        count: counts.sessions,
        make: () => each(counts.sessions, () => sessions.create(NAMESPACE, { ttlSeconds: TTL_SECONDS })),
      },
      { name: "watches", count: counts.watches, make: () => this.#watch(counts.watches) },
      {
        name: "event logs",
        count: counts.logs,
        make: () =>
          each(counts.logs, async (at) => {
            const { logId } = await logs.create(`log-${at}`, { namespace: NAMESPACE });
            await logs.append(logId, "event");
          }),
      },
    ];
  }

  /** Raises a ScaleError if a watch has ended. */
  assertWatched(): void {
    if (this.#failedWatches > 0) {
      throw new ScaleError(`${this.#failedWatches} watches have ended by themselves`);
    }
  }

  close(): void {
    for (const connection of this.#connections) {
      connection.close();
    }
  }

  /** Watches of different keys, spread over the members, with the default interval of progress. */
  async #watch(count: number): Promise<void> {
    const connectionCount = Math.max(this.#endpoints.length, Math.ceil(count / WATCHES_PER_CONNECTION));
    for (let at = 0; at < connectionCount; at++) {
      const endpoint = this.#endpoints[at % this.#endpoints.length] as string;
      this.#connections.push(new QuoinWatches(endpoint, this.#token));
    }
    const listener = {
      onPuts: () => undefined,
      onFailed: () => {
        this.#failedWatches++;
      },
    };
    await each(count, async (at) => {
      await this.#connections[at % connectionCount]?.watch(`watched/${at}`, listener);
    });
  }
}

async function each(count: number, work: (at: number) => Promise<unknown>): Promise<void> {
  await mapWithLimit(Array.from({ length: count }).keys().toArray(), AT_ONCE, work);
}
