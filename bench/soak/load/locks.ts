/** Locks that go from one holder to the next one, who waits. Their fencing tokens must grow. */

import { setTimeout as sleep } from "node:timers/promises";
import { type Action, assertThat, Pool } from "../pace/index.ts";
import type { Part, PartContext } from "./part.ts";

interface Lock {
  readonly name: string;
  fencingToken: number;
}

const NAMESPACE = "locks";
const LOCKS = 100;
/** Longer than any call is repeated. */
const TTL_SECONDS = 600;
const WAIT_MS = 60_000;
/** So that the second holder usually waits. */
const HELD_MS = 20;

export class LockLoad implements Part {
  readonly #context: PartContext;
  readonly #pool: Pool<Lock>;

  constructor(context: PartContext) {
    this.#context = context;
    this.#pool = new Pool(Array.from({ length: LOCKS }, (_, at) => ({ name: `lock-${at}`, fencingToken: 0 })));
  }

  readonly actions: readonly Action[] = [
    { name: "lock", perSecond: 5, perform: (dueMs) => this.#pool.use((lock) => this.#handOver(lock, dueMs)) },
  ];

  async prepare(): Promise<void> {
    const { keyValue, locks } = this.#context.client();
    await keyValue.createNamespace(NAMESPACE);
    await Promise.all(this.#pool.all.map(({ name }) => locks.create(NAMESPACE, name)));
  }

  async verify(): Promise<void> {
    const { locks } = this.#context.client();
    for (const { name } of this.#pool.all) {
      const { state, waiters } = await locks.describe(NAMESPACE, name);
      assertThat(state === "FREE" && waiters === 0, `${name} is ${state} with ${waiters} waiters at the end`);
    }
  }

  async #handOver(lock: Lock, dueMs: number): Promise<void> {
    await this.#acquire("lock-acquire", lock, "first", 0, dueMs);
    const waiting = this.#acquire("lock-wait", lock, "second", WAIT_MS, performance.now());
    // It is awaited after the release, which may fail first.
    waiting.catch(() => undefined);
    await sleep(HELD_MS);
    const releasedMs = performance.now();
    await this.#release(lock, "first");
    await waiting;
    this.#context.calls.note("lock-hand-over", releasedMs);
    await this.#release(lock, "second");
  }

  async #acquire(kind: string, lock: Lock, owner: string, waitMs: number, dueMs: number): Promise<void> {
    const { acquired, fencingToken } = await this.#context.calls.perform(
      kind,
      (identity) =>
        this.#context.client().locks.acquire(NAMESPACE, lock.name, {
          ...identity,
          owner,
          ttlSeconds: TTL_SECONDS,
          waitMs,
        }),
      dueMs,
    );
    assertThat(acquired, `${lock.name} was not granted to the ${owner} holder`);
    assertThat(
      fencingToken > lock.fencingToken,
      `the token of ${lock.name} went from ${lock.fencingToken} to ${fencingToken}`,
    );
    lock.fencingToken = fencingToken;
  }

  async #release({ name }: Lock, owner: string): Promise<void> {
    await this.#context.calls.perform("lock-release", (identity) =>
      this.#context.client().locks.release(NAMESPACE, name, { ...identity, owner }),
    );
  }
}
