/** Puts of always new keys, each with its own request id. */

import type { Connection } from "../clusters/index.ts";
import { keysOf } from "./capabilities.ts";
import { closedLoop, type Operations } from "./closed-loop.ts";
import { IN_FLIGHT } from "./in-flight.ts";
import { greater } from "./revisions.ts";
import type { Scenario } from "./scenario.ts";

export const put: Scenario = {
  name: "put",
  description: "puts of always new keys, each with its own request id",
  concurrency: IN_FLIGHT,
  valueBytesDefault: 256,
  isComparable: true,
  createWorkload: (valueBytes) => closedLoop(new Puts(Buffer.alloc(valueBytes, "v"))),
};

class Puts implements Operations {
  readonly revisionsPerOperation = 1n;
  readonly attempts = null;
  readonly #value: Buffer;
  #next = 0;
  revision = 0n;

  constructor(value: Buffer) {
    this.#value = value;
  }

  prepare(connection: Connection): Promise<void> {
    return this.perform(connection);
  }

  async perform(connection: Connection): Promise<void> {
    const revision = await keysOf(connection).put(`bench/${this.#next++}`, this.#value);
    this.revision = greater(revision, this.revision);
  }

  async verify(): Promise<void> {}
}
