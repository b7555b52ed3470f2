/**
 * Appends to an event log: single events with and without a key, batches, and the delay until a follower of the log has
 * them.
 */

import type { Connection } from "../clusters/index.ts";
import { logsOf } from "./capabilities.ts";
import { closedLoop, type Operations } from "./closed-loop.ts";
import { IN_FLIGHT } from "./in-flight.ts";
import type { Scenario } from "./scenario.ts";

const EVENT_BYTES = 1024;
const BATCH_EVENTS = 1_000;
const BATCH_EVENT_BYTES = 100;
const LINE_BREAK = Buffer.from("\n");

/** Common to the scenarios of single events. */
const single = { concurrency: IN_FLIGHT, valueBytesDefault: EVENT_BYTES, isComparable: false };

/** How single events are appended. */
interface Way {
  readonly hasKeys: boolean;
  readonly byHttp: boolean;
}

export const append = singleAppends("append", "appends of single events without a key", {
  hasKeys: false,
  byHttp: false,
});

export const appendKeyed = singleAppends(
  "append-keyed",
  "appends of single events, each with its own idempotency key",
  {
    hasKeys: true,
    byHttp: false,
  },
);

export const appendByHttp = singleAppends(
  "append-http",
  "the same as append-keyed over HTTP, where a system has that",
  {
    hasKeys: true,
    byHttp: true,
  },
);

export const appendBatch: Scenario = {
  name: "append-batch",
  description: `appends of batches of ${BATCH_EVENTS} events of ${BATCH_EVENT_BYTES} bytes`,
  concurrency: IN_FLIGHT,
  valueBytesDefault: null,
  isComparable: false,
  createWorkload: () => closedLoop(new Batches()),
};

export const tail: Scenario = {
  ...single,
  name: "tail",
  description: "appends of single events, each until a follower of the log at the same member has it",
  createWorkload: (valueBytes) => closedLoop(new Tails(Buffer.alloc(valueBytes, "v"))),
};

function singleAppends(name: string, description: string, way: Way): Scenario {
  const createWorkload = (valueBytes: number) => closedLoop(new Appends(Buffer.alloc(valueBytes, "v"), way));
  return { ...single, name, description, createWorkload };
}

/** Operations on one log. They do not change the revision. */
abstract class LogOperations implements Operations {
  readonly revisionsPerOperation = 0n;
  readonly revision = 0n;
  readonly attempts = null;
  protected log = "";
  /** Events that were acknowledged. */
  #stored = 0;
  #keys = 0;

  async prepare(connection: Connection): Promise<void> {
    this.log = await logsOf(connection).create(`bench-${process.hrtime.bigint()}`);
  }

  abstract perform(connection: Connection): Promise<void>;

  /** The log must contain the acknowledged events, and nothing else. */
  async verify(connection: Connection): Promise<void> {
    const lastSequence = await logsOf(connection).lastSequence(this.log);
    if (lastSequence !== this.#stored) {
      throw new Error(`${this.#stored} events were acknowledged, but the log has ${lastSequence}`);
    }
  }

  protected nextKey(): string {
    return `key-${this.#keys++}`;
  }

  protected noteStored(count: number): void {
    this.#stored += count;
  }
}

class Appends extends LogOperations {
  readonly #payload: Buffer;
  readonly #hasKeys: boolean;
  readonly #byHttp: boolean;

  constructor(payload: Buffer, { hasKeys, byHttp }: Way) {
    super();
    this.#payload = payload;
    this.#hasKeys = hasKeys;
    this.#byHttp = byHttp;
  }

  async perform(connection: Connection): Promise<void> {
    const logs = logsOf(connection);
    const key = this.#hasKeys ? this.nextKey() : null;
    await (this.#byHttp ? logs.appendByHttp(this.log, this.#payload, key) : logs.append(this.log, this.#payload, key));
    this.noteStored(1);
  }
}

class Batches extends LogOperations {
  readonly #lines = Buffer.concat(
    Array.from({ length: BATCH_EVENTS }, () => [Buffer.alloc(BATCH_EVENT_BYTES, "v"), LINE_BREAK]).flat(),
  );

  async perform(connection: Connection): Promise<void> {
    const { length } = await logsOf(connection).appendBatch(this.log, this.#lines, this.nextKey());
    if (length !== BATCH_EVENTS) {
      throw new Error(`a batch of ${BATCH_EVENTS} events has ${length} sequences`);
    }
    this.noteStored(length);
  }
}

/** A follower of the log over one connection: the last event, and callers that wait for more. */
interface Follower {
  last: number;
  readonly waiting: Map<number, () => void>;
}

class Tails extends LogOperations {
  readonly #payload: Buffer;
  readonly #followers = new Map<Connection, Promise<Follower>>();

  constructor(payload: Buffer) {
    super();
    this.#payload = payload;
  }

  async perform(connection: Connection): Promise<void> {
    const following = this.#followers.get(connection) ?? this.#follow(connection);
    this.#followers.set(connection, following);
    const follower = await following;
    const sequence = await logsOf(connection).append(this.log, this.#payload, null);
    this.noteStored(1);
    if (follower.last < sequence) {
      await new Promise<void>((resolve) => follower.waiting.set(sequence, resolve));
    }
  }

  /** Follows the log from its next event on. Events arrive in order, each once. */
  async #follow(connection: Connection): Promise<Follower> {
    const logs = logsOf(connection);
    const follower: Follower = { last: await logs.lastSequence(this.log), waiting: new Map() };
    await logs.follow(this.log, follower.last + 1, (sequence) => {
      if (sequence !== follower.last + 1) {
        throw new Error(`event ${sequence} arrived after ${follower.last}`);
      }
      follower.last = sequence;
      follower.waiting.get(sequence)?.();
      follower.waiting.delete(sequence);
    });
    return follower;
  }
}
