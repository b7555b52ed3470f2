/** Namespaces that are made, filled, and deleted with everything in them. */

import { type Action, assertThat, Pool } from "../pace/index.ts";
import type { Part, PartContext } from "./part.ts";

const PREFIX = "short-lived-";
const AT_ONCE = 5;
const KEYS = 50;

export class NamespaceLoad implements Part {
  readonly #context: PartContext;
  readonly #pool = new Pool(Array.from({ length: AT_ONCE }, (_, at) => at));
  #next = 0;

  constructor(context: PartContext) {
    this.#context = context;
  }

  readonly actions: readonly Action[] = [
    { name: "namespace", perSecond: 0.2, perform: (dueMs) => this.#pool.use(() => this.#live(dueMs)) },
  ];

  async prepare(): Promise<void> {
    // Each action makes its own namespace.
  }

  async verify(): Promise<void> {
    const { namespaces } = await this.#context.client().keyValue.listNamespaces({ prefix: PREFIX });
    assertThat(namespaces.length === 0, `${namespaces.length} deleted namespaces are still there`);
  }

  async #live(dueMs: number): Promise<void> {
    const { calls } = this.#context;
    const namespace = `${PREFIX}${this.#next++}`;
    const writes = Array.from({ length: KEYS }, (_, at) => ({ put: { key: `key-${at}`, value: "value" } }));
    await calls.perform(
      "namespace-create",
      (identity) => this.#context.client().keyValue.createNamespace(namespace, identity),
      dueMs,
    );
    await calls.perform("namespace-fill", (identity) =>
      this.#context
        .client()
        .transaction(namespace)
        .then(...writes)
        .commit(identity),
    );
    await calls.perform("namespace-lock", (identity) =>
      this.#context.client().locks.create(namespace, "lock", identity),
    );
    const sinceMs = performance.now();
    await calls.perform("namespace-delete", (identity) =>
      this.#context.client().keyValue.deleteNamespace(namespace, { ...identity, recursive: true }),
    );
    await calls.perform(
      "namespace-gone",
      () => this.#context.client().keyValue.untilNamespaceDeleted(namespace),
      sinceMs,
    );
  }
}
