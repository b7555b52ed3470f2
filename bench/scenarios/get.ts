/** Linearizable gets of existing keys. */

import type { Connection } from "../clusters/index.ts";
import { keysOf } from "./capabilities.ts";
import { closedLoop, type Operations } from "./closed-loop.ts";
import { IN_FLIGHT } from "./in-flight.ts";
import { greater } from "./revisions.ts";
import type { Scenario } from "./scenario.ts";
import { KEYS_READ, writeKeysToRead } from "./written-keys.ts";

export const get: Scenario = {
  name: "get",
  description: "linearizable gets of existing keys",
  concurrency: IN_FLIGHT,
  valueBytesDefault: 256,
  isComparable: true,
  createWorkload: (valueBytes) => closedLoop(new Gets(Buffer.alloc(valueBytes, "v"))),
};

class Gets implements Operations {
  readonly revisionsPerOperation = 0n;
  readonly attempts = null;
  readonly #value: Buffer;
  #next = 0;
  revision = 0n;

  constructor(value: Buffer) {
    this.#value = value;
  }

  async prepare(connection: Connection): Promise<void> {
    this.revision = greater(await writeKeysToRead(connection, keyToRead, this.#value), this.revision);
  }

  async perform(connection: Connection): Promise<void> {
    const key = keyToRead(this.#next++ % KEYS_READ);
    const { value, revision } = await keysOf(connection).get(key);
    if (!this.#value.equals(value)) {
      throw new Error(`${key} was read, but does not contain its value (${value.length} bytes)`);
    }
    this.revision = greater(revision, this.revision);
  }

  async verify(): Promise<void> {}
}

function keyToRead(at: number): string {
  return `bench/read/${at}`;
}
