/**
 * A state beside any member: made of the rows of a backup, and gone on with by applying entries. It lies in a directory as the
 * state of a member does, as `state-1` beside the file `state`, so that a restore can make a member of it.
 */

import { compareBytes } from "../bytes/index.ts";
import { invariant } from "../raft/index.ts";
import { PROGRESS_ROW, type Row, readProgress, type StateStore } from "../state/index.ts";
import { IncomingState } from "./incoming-state.ts";
import { LOCAL_ROWS_FROM } from "./local-rows.ts";
import { makeFirstState, openState } from "./member-stores.ts";
import type { Rocks } from "./rocks.ts";
import { RocksStateStore } from "./rocks-state-store.ts";
import type { StoreError } from "./store-error.ts";

export class ScratchState {
  readonly #rocks: Rocks;
  readonly #incoming: IncomingState;
  readonly #onFatal: (error: StoreError) => void;
  #store: RocksStateStore | null = null;

  private constructor(rocks: Rocks, onFatal: (error: StoreError) => void) {
    this.#rocks = rocks;
    this.#incoming = new IncomingState(rocks);
    this.#onFatal = onFatal;
  }

  /**
   * Makes an empty state in an empty directory. Raises a StoreError.
   *
   * @param onFatal called when the store fails in the background
   */
  static async create(directory: string, onFatal: (error: StoreError) => void): Promise<ScratchState> {
    await makeFirstState(directory);
    return new ScratchState(await openState(directory), onFatal);
  }

  /** Whether a row may be part of a replicated state. */
  static isReplicated(key: Uint8Array): boolean {
    return compareBytes(key, LOCAL_ROWS_FROM) < 0;
  }

  /** The state says that this entry was the last one; checked before `finishRows`, which relies on it. */
  static isAt(row: Row, index: number, term: number): boolean {
    const { appliedIndex, appliedTerm } = readProgress({
      get: (key) => (compareBytes(key, row.key) === 0 ? row.value : undefined),
      scan: () => undefined,
    });
    return compareBytes(row.key, PROGRESS_ROW) === 0 && appliedIndex === index && appliedTerm === term;
  }

  /** Adds rows of the replicated state, about a MiB at most. Raises a StoreError. */
  writeRows(rows: readonly Row[]): void {
    this.#incoming.write(rows);
  }

  /** All rows are there, of a state whose last entry is this one. @returns the state, to apply entries to */
  finishRows(index: number, term: number): StateStore {
    this.#incoming.finish({ index, term });
    this.#store = new RocksStateStore(this.#rocks, this.#onFatal);
    return this.#store;
  }

  /** Makes everything durable. */
  sync(): Promise<void> {
    const store = this.#store;
    invariant(store !== null, "a state is complete before it is made durable");
    return new Promise((resolve) => store.sync(resolve));
  }

  async close(): Promise<void> {
    await (this.#store ?? this.#rocks).close();
  }
}
