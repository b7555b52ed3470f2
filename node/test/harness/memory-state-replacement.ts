/**
 * A state that is received beside the live one, in memory. It keeps the contract of StateReplacement; its store decides
 * when a step is done.
 */

import { compareBytes } from "../../src/bytes/index.ts";
import { invariant } from "../../src/primitives/index.ts";
import { type Row, readProgress } from "../../src/state/index.ts";
import type { StateReplacement } from "../../src/storage/index.ts";
import { MemoryStateStore, REPLICATED_ROWS_END } from "../index.ts";

export class MemoryStateReplacement implements StateReplacement {
  /** The rows so far. */
  readonly rows = new MemoryStateStore();
  readonly #step: (action: () => void, done: () => void) => void;
  readonly #onAbandoned: () => void;
  #phase: "receiving" | "finished" | "placing" | "placed" | "abandoned" = "receiving";
  #installed: { readonly index: number; readonly term: number } | null = null;

  /** `step` performs the action and calls `done` later, in a turn of its own. */
  constructor(step: (action: () => void, done: () => void) => void, onAbandoned: () => void) {
    this.#step = step;
    this.#onAbandoned = onAbandoned;
  }

  /** The last entry whose effects it holds; null before it is finished. */
  get installed(): { readonly index: number; readonly term: number } | null {
    return this.#installed;
  }

  get isPlacing(): boolean {
    return this.#phase === "placing" || this.#phase === "placed";
  }

  get isPlaced(): boolean {
    return this.#phase === "placed";
  }

  write(rows: readonly Row[], done: () => void): void {
    invariant(this.#phase === "receiving", "rows are written before the state is finished", () => this.#phase);
    for (const { key } of rows) {
      invariant(compareBytes(key, REPLICATED_ROWS_END) < 0, "a snapshot holds rows of the replicated state alone");
    }
    // Copies, taken now: the caller may use its buffers again.
    this.rows.write(rows);
    this.#step(() => undefined, done);
  }

  finish(index: number, term: number, done: () => void): void {
    invariant(this.#phase === "receiving", "a state is finished once", () => this.#phase);
    this.#phase = "finished";
    this.#step(() => {
      const { appliedIndex, appliedTerm } = readProgress(this.rows);
      invariant(
        appliedIndex === index && appliedTerm === term,
        "a snapshot has come as far as it was announced",
        () => `entry ${index} of term ${term}, but it holds ${appliedIndex} of ${appliedTerm}`,
      );
      this.#installed = { index, term };
    }, done);
  }

  place(done: () => void): void {
    invariant(this.#phase === "finished", "a finished state is placed, once", () => this.#phase);
    this.#phase = "placing";
    this.#step(() => {
      this.#phase = "placed";
    }, done);
  }

  abandon(): void {
    invariant(!this.isPlacing, "a state that was placed is not abandoned");
    if (this.#phase !== "abandoned") {
      this.#phase = "abandoned";
      this.#onAbandoned();
    }
  }
}
