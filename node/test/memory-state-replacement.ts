/**
 * A state that is received beside the live one, in memory. It keeps the contract of StateReplacement; its store decides
 * when a step is done.
 */

import { compareBytes } from "../src/bytes/index.ts";
import { invariant } from "../src/primitives/index.ts";
import { type Row, readProgress } from "../src/state/index.ts";
import type { StateReplacement } from "../src/storage/index.ts";
import type { MemoryStateStore } from "./memory-state-store.ts";
import { REPLICATED_ROWS_END } from "./replicated-rows.ts";

/** What its store adds. */
export interface ReplacementHooks {
  /** Performs the action and calls `done` later, in a turn of its own. */
  step(action: () => void, done: () => void): void;
  onAbandoned?(): void;
  /** The whole state has arrived. */
  onInstalled?(index: number, term: number): void;
  /** A start opens this state from now on. */
  onPlaced?(): void;
}

export class MemoryStateReplacement<Rows extends MemoryStateStore = MemoryStateStore> implements StateReplacement {
  /** The rows so far. */
  readonly rows: Rows;
  readonly #hooks: ReplacementHooks;
  #phase: "receiving" | "finished" | "placing" | "placed" | "abandoned" = "receiving";
  #installed: { readonly index: number; readonly term: number } | null = null;

  constructor(rows: Rows, hooks: ReplacementHooks) {
    this.rows = rows;
    this.#hooks = hooks;
  }

  /** The last entry whose effects it holds; null before it is finished. */
  get installed(): { readonly index: number; readonly term: number } | null {
    return this.#installed;
  }

  get isPlaced(): boolean {
    return this.#phase === "placed";
  }

  get isAbandoned(): boolean {
    return this.#phase === "abandoned";
  }

  write(rows: readonly Row[], done: () => void): void {
    invariant(this.#phase === "receiving", "rows are written before the state is finished", () => this.#phase);
    for (const { key } of rows) {
      invariant(compareBytes(key, REPLICATED_ROWS_END) < 0, "a snapshot holds rows of the replicated state alone");
    }
    // Copies, taken now: the caller may use its buffers again.
    this.rows.write(rows);
    this.#hooks.step(() => undefined, done);
  }

  finish(index: number, term: number, done: () => void): void {
    invariant(this.#phase === "receiving", "a state is finished once", () => this.#phase);
    this.#phase = "finished";
    this.#hooks.step(() => {
      const { appliedIndex, appliedTerm } = readProgress(this.rows);
      invariant(
        appliedIndex === index && appliedTerm === term,
        "a snapshot has come as far as it was announced",
        () => `entry ${index} of term ${term}, but it holds ${appliedIndex} of ${appliedTerm}`,
      );
      this.#installed = { index, term };
      this.#hooks.onInstalled?.(index, term);
    }, done);
  }

  place(done: () => void): void {
    invariant(this.#phase === "finished", "a finished state is placed, once", () => this.#phase);
    this.#phase = "placing";
    this.#hooks.step(() => {
      this.#phase = "placed";
      this.#hooks.onPlaced?.();
    }, done);
  }

  abandon(): void {
    invariant(this.#phase !== "placing" && !this.isPlaced, "a state that was placed is not abandoned");
    if (!this.isAbandoned) {
      this.#phase = "abandoned";
      this.#hooks.onAbandoned?.();
    }
  }
}
