/**
 * What is asked of a cluster, request by request, and how to tell that it was really done.
 *
 * A cluster counts its writes in its revision, and answers with it. So the growth of the revision over a run shows
 * whether each acknowledged write took place, and that a read was nothing but a read.
 */

import type { Connection } from "./clusters/index.ts";

export type Scenario = "put" | "get";

export interface Workload {
  /** By how much one operation raises the revision. */
  readonly revisionsPerOperation: 0n | 1n;
  /** The greatest revision that was answered so far. */
  readonly revision: bigint;
  /** Writes what the operations need. To be called once, before them. */
  prepare(connection: Connection): Promise<void>;
  /** One operation. Raises an error if it fails or its answer is wrong. */
  perform(connection: Connection): Promise<void>;
}

/** Keys that are read in turn. */
const KEYS_READ = 1000;
/** Requests in flight while they are written. */
const KEYS_WRITTEN_AT_ONCE = 50;

/** The operations of a scenario; a cluster needs its own, because it counts by itself. */
export function createWorkload(scenario: Scenario, valueBytes: number): Workload {
  const value = Buffer.alloc(valueBytes, "v");
  return scenario === "put" ? new Puts(value) : new Gets(value);
}

/** Puts of ever new keys. */
class Puts implements Workload {
  readonly revisionsPerOperation = 1n;
  readonly #value: Buffer;
  #next = 0;
  revision = 0n;

  constructor(value: Buffer) {
    this.#value = value;
  }

  async prepare(): Promise<void> {}

  async perform(connection: Connection): Promise<void> {
    const revision = await connection.put(`bench/${this.#next++}`, this.#value);
    this.revision = greater(revision, this.revision);
  }
}

/** Linearizable gets of existing keys. */
class Gets implements Workload {
  readonly revisionsPerOperation = 0n;
  readonly #value: Buffer;
  #next = 0;
  revision = 0n;

  constructor(value: Buffer) {
    this.#value = value;
  }

  async prepare(connection: Connection): Promise<void> {
    const keys = Array.from({ length: KEYS_READ }, (_, at) => keyToRead(at));
    while (keys.length > 0) {
      const batch = keys.splice(0, KEYS_WRITTEN_AT_ONCE);
      const revisions = await Promise.all(batch.map((key) => connection.put(key, this.#value)));
      this.revision = revisions.reduce(greater, this.revision);
    }
  }

  async perform(connection: Connection): Promise<void> {
    const key = keyToRead(this.#next++ % KEYS_READ);
    const { value, revision } = await connection.get(key);
    if (!this.#value.equals(value)) {
      throw new Error(`${key} was read, but holds something else than was put (${value.length} bytes)`);
    }
    this.revision = greater(revision, this.revision);
  }
}

function keyToRead(at: number): string {
  return `bench/read/${at}`;
}

function greater(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
