/**
 * Keys that are put, read, swapped and deleted, some that expire, and pages of them. A watch of all of them must arrive
 * at the same state.
 */

import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Action, assertThat, Pool, SoakError } from "../pace/index.ts";
import { answerUnless, type Part, type PartContext, textOf } from "./part.ts";

interface Key {
  readonly name: string;
  /** Null while it does not exist. */
  value: string | null;
  modRevision: number;
}

const NAMESPACE = "keys";
const EXPIRING = "expiring";
const KEYS = 5_000;
const VALUE_BYTES_MAX = 1_024;
const TTL_SECONDS = 2;
const PAGE_SIZE = 1_000;
const MIRROR_LIMIT_MS = 60_000;
const POLL_MS = 100;

export class KeyLoad implements Part {
  readonly #context: PartContext;
  readonly #pool: Pool<Key>;
  /** The keys as the watch shows them. */
  readonly #mirror = new Map<string, string>();
  #mirrorRevision = 0;
  #mirrorFailure: unknown = null;
  #endMirror: () => Promise<unknown> = async () => undefined;
  #next = 0;
  #lastRevision = 0;

  constructor(context: PartContext) {
    this.#context = context;
    const keys = Array.from({ length: KEYS }, (_, at) => ({ name: `key-${String(at).padStart(5, "0")}` }));
    this.#pool = new Pool(keys.map(({ name }) => ({ name, value: null, modRevision: 0 })));
  }

  readonly actions: readonly Action[] = [
    { name: "put", perSecond: 30, perform: (dueMs) => this.#use((key) => this.#put(key, dueMs)) },
    { name: "get", perSecond: 30, perform: (dueMs) => this.#use((key) => this.#get(key, dueMs)) },
    { name: "delete", perSecond: 5, perform: (dueMs) => this.#use((key) => this.#delete(key, dueMs)) },
    { name: "cas", perSecond: 10, perform: (dueMs) => this.#use((key) => this.#swap(key, dueMs)) },
    { name: "put-expiring", perSecond: 5, perform: (dueMs) => this.#putExpiring(dueMs) },
    { name: "list", perSecond: 1, perform: (dueMs) => this.#list(dueMs) },
  ];

  async prepare(): Promise<void> {
    const { keyValue, watch } = this.#context.client();
    await keyValue.createNamespace(NAMESPACE);
    await keyValue.createNamespace(EXPIRING);
    const changes = await watch.keys(NAMESPACE, { progress: true });
    this.#endMirror = () => changes.return();
    const follow = async (): Promise<void> => {
      for await (const { events, revision } of changes) {
        for (const { type, kv } of events) {
          if (type === "PUT") {
            this.#mirror.set(kv.key, Buffer.from(kv.value).toString());
          } else {
            this.#mirror.delete(kv.key);
          }
        }
        this.#mirrorRevision = revision;
      }
    };
    follow().catch((error: unknown) => {
      this.#mirrorFailure = error;
    });
  }

  async verify(): Promise<void> {
    const expected = new Map(this.#pool.all.flatMap(({ name, value }) => (value === null ? [] : [[name, value]])));
    const found = new Map<string, string>();
    for await (const { items } of this.#context.client().keyValue.pages(NAMESPACE, { pageSize: PAGE_SIZE })) {
      for (const { key, value } of items) {
        found.set(key, Buffer.from(value).toString());
      }
    }
    assertSame("the keys", found, expected);
    await this.#untilMirrored();
    assertSame("the watch of the keys", this.#mirror, expected);
    await this.#endMirror();
    await sleep(TTL_SECONDS * 2_000);
    const { keys } = await this.#context.client().keyValue.count(EXPIRING);
    assertThat(keys === 0, `${keys} keys have not expired`);
  }

  #use(work: (key: Key) => Promise<void>): Promise<void> | null {
    return this.#pool.use(work);
  }

  #value(): string {
    return textOf(`value ${this.#next++}`, randomInt(16, VALUE_BYTES_MAX));
  }

  async #put(key: Key, dueMs: number): Promise<void> {
    const value = this.#value();
    const { modRevision } = await this.#context.calls.perform(
      "put",
      (identity) => this.#context.client().keyValue.put(NAMESPACE, key.name, value, identity),
      dueMs,
    );
    this.#wrote(key, value, modRevision);
  }

  async #get(key: Key, dueMs: number): Promise<void> {
    const found = await this.#context.calls.perform(
      "get",
      (identity) => answerUnless("KEY_NOT_FOUND", this.#context.client().keyValue.get(NAMESPACE, key.name, identity)),
      dueMs,
    );
    const value = found && Buffer.from(found.value).toString();
    assertThat(value === key.value, `${key.name} is ${shown(value)}, and not ${shown(key.value)}`);
  }

  async #delete(key: Key, dueMs: number): Promise<void> {
    const deleted = await this.#context.calls.perform(
      "delete",
      (identity) =>
        answerUnless("KEY_NOT_FOUND", this.#context.client().keyValue.delete(NAMESPACE, key.name, identity)),
      dueMs,
    );
    const wasThere = deleted !== null;
    assertThat(wasThere === (key.value !== null), `the deletion of ${key.name} found ${wasThere ? "it" : "nothing"}`);
    key.value = null;
    key.modRevision = 0;
  }

  async #swap(key: Key, dueMs: number): Promise<void> {
    const value = this.#value();
    const { success, modRevision } = await this.#context.calls.perform(
      "cas",
      (identity) =>
        this.#context.client().keyValue.compareAndSwap(NAMESPACE, key.name, value, {
          ...identity,
          expectedModRevision: key.modRevision,
        }),
      dueMs,
    );
    assertThat(success, `${key.name} was not swapped: its revision is ${modRevision}, and not ${key.modRevision}`);
    this.#wrote(key, value, modRevision);
  }

  #wrote(key: Key, value: string, modRevision: number): void {
    assertThat(modRevision > key.modRevision, `${key.name} went from ${key.modRevision} back to ${modRevision}`);
    key.value = value;
    key.modRevision = modRevision;
    this.#lastRevision = Math.max(this.#lastRevision, modRevision);
  }

  async #putExpiring(dueMs: number): Promise<void> {
    const name = `key-${this.#next++}`;
    await this.#context.calls.perform(
      "put-expiring",
      (identity) =>
        this.#context.client().keyValue.put(EXPIRING, name, "value", { ...identity, ttlSeconds: TTL_SECONDS }),
      dueMs,
    );
  }

  async #list(dueMs: number): Promise<void> {
    const startAt = `key-0${randomInt(0, 5)}`;
    await this.#context.calls.perform(
      "list",
      (identity) => this.#context.client().keyValue.list(NAMESPACE, { ...identity, prefix: startAt }),
      dueMs,
    );
  }

  async #untilMirrored(): Promise<void> {
    const limitMs = performance.now() + MIRROR_LIMIT_MS;
    while (this.#mirrorRevision < this.#lastRevision) {
      if (this.#mirrorFailure !== null) {
        throw new SoakError(`the watch of the keys has ended: ${this.#mirrorFailure}`, { cause: this.#mirrorFailure });
      }
      assertThat(performance.now() < limitMs, `the watch of the keys stays at revision ${this.#mirrorRevision}`);
      await sleep(POLL_MS);
    }
  }
}

function assertSame(what: string, found: ReadonlyMap<string, string>, expected: ReadonlyMap<string, string>): void {
  for (const name of new Set([...found.keys(), ...expected.keys()])) {
    const [is, should] = [found.get(name) ?? null, expected.get(name) ?? null];
    assertThat(is === should, `${what}: ${name} is ${shown(is)}, and not ${shown(should)}`);
  }
}

/** Enough of a value to recognize it. */
function shown(value: string | null): string {
  return value === null ? "missing" : `"${value.slice(0, 16)}"`;
}
