/**
 * The common part of the loads besides the keys: clients that run until `stop`, through all present members, and the
 * outcome of an operation that meets a fault.
 */

import { type Client, createClient, QuoinError } from "@quoin/client";
import { type ClusterUnderTest, pause } from "../../test/harness/index.ts";
import type { OperationOutcome } from "../history/index.ts";

/** Codes for a lost member or connection, or a full disk. Any other code is a bug of the service. */
const EXPECTED_CODES: ReadonlySet<string> = new Set([
  "UNAVAILABLE",
  "DEADLINE_EXCEEDED",
  "CANCELLED",
  "RESOURCE_EXHAUSTED",
]);

export interface BackgroundOptions {
  /** Prefix of the clients' names. */
  readonly name: string;
  readonly clients: number;
  readonly timeoutMs: number;
  /** Pause of a client between two turns, in milliseconds. */
  readonly restMs: number;
}

/** Clients that take turns until `stop`. */
export abstract class BackgroundLoad {
  readonly #cluster: ClusterUnderTest;
  readonly #options: BackgroundOptions;
  #isStopping = false;
  #workers: Promise<unknown> = Promise.resolve();
  #failure: unknown;

  constructor(cluster: ClusterUnderTest, options: BackgroundOptions) {
    this.#cluster = cluster;
    this.#options = options;
  }

  /** One action of a client. Rejects with the error of the service, or any other error. */
  protected abstract turn(client: Client, name: string): Promise<void>;

  /** The error that ended them, which no fault explains; undefined if there is none. */
  get failure(): unknown {
    return this.#failure;
  }

  start(): void {
    const work = async (position: number): Promise<void> => {
      try {
        await this.#work(`${this.#options.name}-${position}`);
      } catch (error) {
        this.#failure ??= error;
        this.#isStopping = true;
      }
    };
    this.#workers = Promise.all(Array.from({ length: this.#options.clients }, (_, at) => work(at)));
  }

  /** Lets each client finish its turn. Rejects if one met an error that no fault explains. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#workers;
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
  }

  async #work(name: string): Promise<void> {
    let endpoints: readonly string[] = [];
    let client: Client | null = null;
    try {
      while (!this.#isStopping) {
        const present = this.#cluster.endpoints;
        if (client === null || present.join() !== endpoints.join()) {
          client?.close();
          endpoints = present;
          const { timeoutMs } = this.#options;
          client = createClient({ endpoints, credentials: this.#cluster.tokens, timeoutMs });
        }
        await this.turn(client, name);
        await pause(this.#options.restMs);
      }
    } finally {
      client?.close();
    }
  }
}

/** The outcome of an operation with this error. Rethrows the error if no fault explains it. */
export function outcomeOf(thrown: unknown): OperationOutcome["kind"] {
  const error = QuoinError.from(thrown);
  if (!EXPECTED_CODES.has(error.code)) {
    throw error;
  }
  return error.outcome;
}
