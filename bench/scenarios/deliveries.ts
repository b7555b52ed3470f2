/**
 * Judges the puts that watchers receive: each put at each watcher, once, at the revision of the put, and in the order
 * of revisions. Every key is put once.
 */

import type { WatchedPut } from "../clusters/index.ts";

/** A put has arrived at all watchers. */
export interface Delivered {
  readonly revision: bigint;
  /** The time of arrival at each watcher. */
  readonly arrivedMs: Float64Array;
}

interface Expected {
  readonly arrivedMs: Float64Array;
  revision: bigint | null;
  missing: number;
  readonly resolve: (delivered: Delivered) => void;
  readonly reject: (error: Error) => void;
}

export class Deliveries {
  readonly #expected = new Map<string, Expected>();
  /** The last revision that each watcher received. */
  readonly #revisions: bigint[];
  #failure: Error | null = null;

  constructor(watchers: number) {
    this.#revisions = Array.from({ length: watchers }, () => 0n);
  }

  /**
   * Call this before the put of the key. Fulfilled when all watchers have received it, rejected when anything is wrong.
   */
  expect(key: string): Promise<Delivered> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) {
        reject(this.#failure);
        return;
      }
      const watchers = this.#revisions.length;
      const arrivedMs = new Float64Array(watchers).fill(Number.NaN);
      this.#expected.set(key, { arrivedMs, revision: null, missing: watchers, resolve, reject });
    });
  }

  /** A watcher has received these puts in one message. */
  onDelivered(watcher: number, puts: readonly WatchedPut[], atMs: number): void {
    for (const put of puts) {
      const problem = this.#record(watcher, put, atMs);
      if (problem !== null) {
        this.fail(new Error(`watcher ${watcher} received ${put.key} at revision ${put.revision} ${problem}`));
        return;
      }
    }
  }

  /** Nothing that is still expected will arrive. */
  fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#expected.values()) {
      reject(this.#failure);
    }
    this.#expected.clear();
  }

  /** The puts that have not arrived everywhere, for people. */
  describeMissing(): string {
    const parts = [...this.#expected].map(([key, { missing }]) => `${missing} watchers did not receive ${key}`);
    return parts.join(", ");
  }

  /** The problem with this put, or null. */
  #record(watcher: number, { key, revision }: WatchedPut, atMs: number): string | null {
    const last = this.#revisions[watcher] as bigint;
    if (revision <= last) {
      return `behind revision ${last}`;
    }
    this.#revisions[watcher] = revision;
    const expected = this.#expected.get(key);
    if (expected === undefined) {
      return "which is not expected";
    }
    if (!Number.isNaN(expected.arrivedMs[watcher])) {
      return "twice";
    }
    expected.revision ??= revision;
    if (revision !== expected.revision) {
      return `and another one at revision ${expected.revision}`;
    }
    expected.arrivedMs[watcher] = atMs;
    expected.missing--;
    if (expected.missing === 0) {
      this.#expected.delete(key);
      expected.resolve({ revision, arrivedMs: expected.arrivedMs });
    }
    return null;
  }
}
