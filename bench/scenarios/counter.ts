/** One counter that all clients raise by 1. */

import type { Connection, Keys } from "../clusters/index.ts";
import { keysOf } from "./capabilities.ts";
import type { Operations } from "./closed-loop.ts";
import { greater } from "./revisions.ts";
import type { Concurrency } from "./scenario.ts";

export const CLIENTS: Concurrency = {
  name: "clients",
  flag: "--clients",
  description: "clients that change the key, one point each",
  counts: [1, 16],
};

/** The counter was raised. */
export interface Raised {
  readonly attempts: number;
  /** After it. */
  readonly revision: bigint;
}

export class Raises implements Operations {
  readonly revisionsPerOperation = 1n;
  readonly #counter: string;
  readonly #raise: (keys: Keys, counter: string) => Promise<Raised>;
  #done = 0;
  attempts = 0;
  revision = 0n;

  constructor(counter: string, raise: (keys: Keys, counter: string) => Promise<Raised>) {
    this.#counter = counter;
    this.#raise = raise;
  }

  async prepare(connection: Connection): Promise<void> {
    this.revision = await keysOf(connection).put(this.#counter, Buffer.from(String(this.#done)));
  }

  async perform(connection: Connection): Promise<void> {
    const { attempts, revision } = await this.#raise(keysOf(connection), this.#counter);
    this.attempts += attempts;
    this.revision = greater(revision, this.revision);
    this.#done++;
  }

  /** A lost or repeated increment leads to another count. */
  async verify(connection: Connection): Promise<void> {
    const counted = Buffer.from((await keysOf(connection).get(this.#counter)).value).toString();
    if (counted !== String(this.#done)) {
      throw new Error(`the counter was raised ${this.#done} times, but holds ${counted}`);
    }
  }
}

/** Reads the counter, and stores one more if it has not changed since, until that succeeds. */
export async function raiseBySwap(keys: Keys, counter: string): Promise<Raised> {
  for (let attempts = 1; ; attempts++) {
    const { value, modRevision } = await keys.get(counter);
    const raised = Number(Buffer.from(value).toString()) + 1;
    const { isDone, revision } = await keys.swap(counter, modRevision, Buffer.from(String(raised)));
    if (isDone) {
      return { attempts, revision };
    }
  }
}
