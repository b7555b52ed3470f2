/**
 * Which faults are made, in which order: each lane goes through all its kinds in an order given by the seed, again and
 * again, each time another. The kinds that a run has time for are planned: each of them must land.
 */

import { type FaultKind, shuffled } from "./fault.ts";

/** What one fault takes, with the rest before it and the recovery after it. */
const FAULT_MS = { network: 7_000, member: 12_000, certificates: 45_000 } as const;

export class Schedule {
  readonly #random: (bound: number) => number;
  readonly #kinds: readonly FaultKind[];
  #next: FaultKind[] = [];
  readonly #missing: Set<FaultKind>;
  readonly #unplanned: Set<FaultKind>;

  /**
   * @param kinds those of one lane that can be made here.
   * @param runMs how long faults are made; null to plan every kind, however long it takes.
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

  /** Kinds that there was no time to plan, and which have not landed by chance. */
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

  /** A planned kind that has not landed; null if there is none. */
  nextMissing(): FaultKind | null {
    const [first] = shuffled(this.#random, [...this.#missing]);
    return first ?? null;
  }

  /** Notes that a fault of this kind has landed. */
  noteLanded(kind: FaultKind): void {
    this.#missing.delete(kind);
    this.#unplanned.delete(kind);
  }
}
