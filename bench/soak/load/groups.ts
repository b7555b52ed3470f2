/** Transactions that write three keys together, if no other has, and count themselves. */

import { type Action, assertThat, Pool } from "../pace/index.ts";
import { type Part, type PartContext, textOf } from "./part.ts";

interface Group {
  readonly keys: readonly [string, string, string];
  value: string | null;
  modRevision: number;
}

const NAMESPACE = "groups";
const COUNTER = "transactions";
const GROUPS = 300;
const VALUE_BYTES = 256;

export class GroupLoad implements Part {
  readonly #context: PartContext;
  readonly #pool: Pool<Group>;
  #done = 0;
  #next = 0;

  constructor(context: PartContext) {
    this.#context = context;
    const groups = Array.from({ length: GROUPS }, (_, at): Group => {
      return { keys: [`${at}/a`, `${at}/b`, `${at}/c`], value: null, modRevision: 0 };
    });
    this.#pool = new Pool(groups);
  }

  readonly actions: readonly Action[] = [
    { name: "transact", perSecond: 10, perform: (dueMs) => this.#pool.use((group) => this.#transact(group, dueMs)) },
  ];

  async prepare(): Promise<void> {
    await this.#context.client().keyValue.createNamespace(NAMESPACE);
  }

  async verify(): Promise<void> {
    const { keyValue } = this.#context.client();
    for (const { keys, value } of this.#pool.all.filter((group) => group.value !== null)) {
      for (const key of keys) {
        const found = Buffer.from((await keyValue.get(NAMESPACE, key)).value).toString();
        assertThat(found === value, `the transactions left ${key} with another value than the last one wrote`);
      }
    }
    const counted = Number(Buffer.from((await keyValue.get(NAMESPACE, COUNTER)).value).toString());
    assertThat(counted === this.#done, `${this.#done} transactions were acknowledged, and ${counted} have run`);
  }

  async #transact(group: Group, dueMs: number): Promise<void> {
    const value = textOf(`transaction ${this.#next++}`, VALUE_BYTES);
    const [first] = group.keys;
    const { succeeded, revision } = await this.#context.calls.perform(
      "transact",
      (identity) =>
        this.#context
          .client()
          .transaction(NAMESPACE)
          .if({ key: { key: first, modRevision: group.modRevision } })
          .then(...group.keys.map((key) => ({ put: { key, value } })), { increment: { key: COUNTER, delta: 1 } })
          .commit(identity),
      dueMs,
    );
    assertThat(succeeded, `a transaction found ${first} changed since revision ${group.modRevision}`);
    group.value = value;
    group.modRevision = revision;
    this.#done++;
  }
}
