/** Watches that are opened, receive one put, and are closed. */

import { setTimeout as sleep } from "node:timers/promises";
import type { KeyEvent, Watch } from "@quoin/client";
import { type Action, assertThat, Pool } from "../pace/index.ts";
import type { Part, PartContext } from "./part.ts";

const NAMESPACE = "watched";
const KEYS = 100;
/** A watch continues at another member after a fault. */
const EVENT_LIMIT_MS = 120_000;

export class WatchLoad implements Part {
  readonly #context: PartContext;
  readonly #pool = new Pool(Array.from({ length: KEYS }, (_, at) => `key-${at}`));

  constructor(context: PartContext) {
    this.#context = context;
  }

  readonly actions: readonly Action[] = [
    { name: "watch", perSecond: 5, perform: (dueMs) => this.#pool.use((key) => this.#watch(key, dueMs)) },
  ];

  async prepare(): Promise<void> {
    await this.#context.client().keyValue.createNamespace(NAMESPACE);
  }

  async verify(): Promise<void> {
    // Each watch was verified before it was closed.
  }

  async #watch(key: string, dueMs: number): Promise<void> {
    const { calls } = this.#context;
    const watch = await calls.perform("watch-open", () => this.#context.client().watch.keys(NAMESPACE, { key }), dueMs);
    try {
      const sentMs = performance.now();
      const event = firstEvent(watch);
      // It is awaited after the put, which may fail first.
      event.catch(() => undefined);
      const { modRevision } = await calls.perform("watch-put", (identity) =>
        this.#context.client().keyValue.put(NAMESPACE, key, "value", identity),
      );
      const revision = await event;
      calls.note("watch-event", sentMs);
      assertThat(revision === modRevision, `a watch of ${key} received revision ${revision}, and not ${modRevision}`);
    } finally {
      await watch.return();
    }
  }
}

/** The revision of the first event; null if there is none for long. */
async function firstEvent(watch: Watch<KeyEvent>): Promise<number | null> {
  const given = new AbortController();
  const late = sleep(EVENT_LIMIT_MS, null, { signal: given.signal }).catch(() => null);
  const first = await Promise.race([watch.next(), late]);
  given.abort();
  return first?.value?.events[0]?.kv.modRevision ?? null;
}
