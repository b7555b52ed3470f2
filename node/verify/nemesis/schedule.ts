/**
 * Decides which faults are made, in which order. Each lane goes through all its kinds repeatedly, each time in another
 * order from the seed. The kinds that fit into the time of the run are planned: each of them must land.
 */

import { type FaultKind, shuffled } from "./fault.ts";

/** Duration of one fault, including the pause before it and the recovery after it, in milliseconds. */
const FAULT_MS = { network: 7_000, member: 12_000, certificates: 45_000 } as const;
/** Tries of a planned kind after the time of the run. A fault is skipped where the cluster is not ready for it. */
const TRIES_MAX = 8;

export class Schedule {
  readonly #random: (bound: number) => number;
  readonly #kinds: readonly FaultKind[];
  #next: FaultKind[] = [];
  readonly #missing: Set<FaultKind>;
  readonly #unplanned: Set<FaultKind>;
  readonly #tries = new Map<FaultKind, number>();

  /**
   * @param kinds the possible kinds of one lane
   * @param runMs time for making faults; null = plan every kind, however long it takes
   */
  constructor(kinds: readonly FaultKind[], runMs: number | null, random: (bound: number) => number) {
    this.#kinds = kinds;
    this.#random = random;
    this.#next = shuffled(random, kinds);
    const count = this.#next.filter(({ lane }, at) => runMs === null || at * FAULT_MS[lane] < runMs).length;
    this.#missing = new Set(this.#next.slice(0, count));
    this.#unplanned = new Set(this.#next.slice(count));
  }

  /** Planned kinds that have not landed yet. */
  get missing(): readonly string[] {
    return [...this.#missing].map(({ name }) => name);
  }

  /** Kinds that did not fit into the plan, and that have not landed otherwise. */
  get unplanned(): readonly string[] {
    return [...this.#unplanned].map(({ name }) => name);
  }

  /** The next fault; null if there are no kinds. */
  next(): FaultKind | null {
    if (this.#next.length === 0) {
      this.#next = shuffled(this.#random, this.#kinds);
    }
    return this.#next.shift() ?? null;
  }

  /** A planned kind that has not landed; null if there is none that is worth another try. */
  nextMissing(): FaultKind | null {
    const left = [...this.#missing].filter((kind) => (this.#tries.get(kind) ?? 0) < TRIES_MAX);
    const [first = null] = shuffled(this.#random, left);
    if (first !== null) {
      this.#tries.set(first, (this.#tries.get(first) ?? 0) + 1);
    }
    return first;
  }

  /** Notes that a fault of this kind has landed. */
  noteLanded(kind: FaultKind): void {
    this.#missing.delete(kind);
    this.#unplanned.delete(kind);
  }
}
