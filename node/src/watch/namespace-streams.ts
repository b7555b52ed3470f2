/**
 * Counts the open streams of each namespace at a member: watches of keys and locks, tails of event logs, and reads that
 * wait for events. They all share one quota, `quota.namespace.watches`. Also numbers the streams.
 */

import { invariant } from "../primitives/index.ts";
import { DEFAULT_STATE_LIMITS, namespaceFull, namespaceWatchesMaxOf, type StateReader } from "../state/index.ts";

export class NamespaceStreams {
  readonly #max: number;
  /** Only namespaces with at least one stream. */
  readonly #counts = new Map<string, number>();
  #numbered = 0;

  /** @param max streams of a namespace, unless the settings have another limit */
  constructor(max = DEFAULT_STATE_LIMITS.namespaceWatchesMax) {
    this.#max = max;
  }

  /**
   * Counts one more stream of the namespace.
   *
   * @returns a function that the caller must call when the stream ends; further calls do nothing.
   * @throws CoordinationError QUOTA if the namespace has reached its limit
   */
  enter(state: StateReader, namespace: string): () => void {
    const used = this.#counts.get(namespace) ?? 0;
    const limit = namespaceWatchesMaxOf(state, namespace, this.#max);
    if (used >= limit) {
      throw namespaceFull(namespace, "watches", { limit, used, added: 1 });
    }
    this.#counts.set(namespace, used + 1);
    let hasEnded = false;
    return () => {
      if (!hasEnded) {
        hasEnded = true;
        this.#leave(namespace);
      }
    };
  }

  /** A number for the next stream of this process, which no other has: 1, 2, and so on. */
  takeNumber(): number {
    this.#numbered++;
    return this.#numbered;
  }

  #leave(namespace: string): void {
    const count = this.#counts.get(namespace);
    invariant(count !== undefined, "a stream that is over was counted");
    if (count === 1) {
      this.#counts.delete(namespace);
    } else {
      this.#counts.set(namespace, count - 1);
    }
  }
}
