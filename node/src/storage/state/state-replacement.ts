/**
 * A state in a separate store, which is received completely before it replaces the live one.
 *
 * It sends each step to the state thread, one request at a time. This side only enforces the order of the steps.
 */

import { compareBytes } from "../../bytes/index.ts";
import { invariant } from "../../primitives/index.ts";
import type { Row } from "../../state/index.ts";
import { encodeChanges, type Rocks } from "../rocks/index.ts";
import { LOCAL_ROWS_FROM } from "./local-rows.ts";
import type { StateReplacement } from "./member-state-store.ts";
import type { StateRequest } from "./state-thread.ts";

type Phase = "receiving" | "finished" | "placing" | "placed" | "abandoned";

/** Posts a request to the state thread, and calls `done` at its reply. */
export type RequestStateThread = (request: StateRequest, transfer: readonly ArrayBuffer[], done: () => void) => void;

export class RocksStateReplacement implements StateReplacement {
  readonly rocks: Rocks;
  readonly #request: RequestStateThread;
  readonly #onAbandoned: () => void;
  #phase: Phase = "receiving";
  #isBusy = false;

  /** `onAbandoned` is called once, in the turn of `abandon`. */
  constructor(rocks: Rocks, request: RequestStateThread, onAbandoned: () => void) {
    this.rocks = rocks;
    this.#request = request;
    this.#onAbandoned = onAbandoned;
  }

  /** Attaches the store to the state thread. The caller must call this first. */
  attach(done: () => void): void {
    this.#step({ kind: "attach", handle: this.rocks.handle }, [], done);
  }

  write(rows: readonly Row[], done: () => void): void {
    invariant(this.#phase === "receiving", "rows are written before the state is finished", () => this.#phase);
    for (const { key } of rows) {
      invariant(compareBytes(key, LOCAL_ROWS_FROM) < 0, "a snapshot holds rows of the replicated state alone");
    }
    const changes = encodeChanges(rows);
    this.#step({ kind: "rows", changes }, [changes], done);
  }

  finish(index: number, term: number, done: () => void): void {
    invariant(this.#phase === "receiving", "a state is finished once", () => this.#phase);
    this.#phase = "finished";
    this.#step({ kind: "finish", installed: { index, term } }, [], done);
  }

  place(done: () => void): void {
    invariant(this.#phase === "finished", "a finished state is placed, once", () => this.#phase);
    this.#phase = "placing";
    this.#step({ kind: "place" }, [], () => {
      this.#phase = "placed";
      done();
    });
  }

  /** Whether the next start may open it, so that it cannot be abandoned any more. */
  get isPlacing(): boolean {
    return this.#phase === "placing" || this.#phase === "placed";
  }

  /** Whether the next start opens it for certain. */
  get isPlaced(): boolean {
    return this.#phase === "placed";
  }

  abandon(): void {
    invariant(!this.isPlacing, "a state that was placed is not abandoned");
    if (this.#phase !== "abandoned") {
      this.#phase = "abandoned";
      this.#onAbandoned();
    }
  }

  #step(request: StateRequest, transfer: readonly ArrayBuffer[], done: () => void): void {
    invariant(!this.#isBusy, "one step of a replacement is in flight at a time");
    this.#isBusy = true;
    this.#request(request, transfer, () => {
      this.#isBusy = false;
      if (this.#phase !== "abandoned") {
        done();
      }
    });
  }
}
