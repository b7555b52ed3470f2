/**
 * The newest changes of the state of one simulated process, which are lost when it dies.
 *
 * A process can crash before and after each batch, even if the store gets nothing then.
 */

import type { Change, KeyRange } from "../../src/state/index.ts";
import { StateWriteBuffer, type WriteBufferLimits } from "../../src/storage/index.ts";
import { passPoint } from "./process-loop.ts";
import type { SimState } from "./sim-state.ts";

/** By the number of the start: one flushes nearly every batch, one collects some, one flushes at ticks alone. */
const LIMITS: readonly WriteBufferLimits[] = [
  { rowsMax: 8, bytesMax: 1024 },
  { rowsMax: 100, bytesMax: 64 * 1024 },
  { rowsMax: 100_000, bytesMax: 64 * 1024 * 1024 },
];

export class SimOverlay extends StateWriteBuffer {
  readonly #onApplied: () => void;

  constructor(store: SimState, boot: number, onApplied: () => void) {
    super(store, LIMITS[boot % LIMITS.length]);
    this.#onApplied = onApplied;
  }

  override write(changes: readonly Change[], dropped: readonly KeyRange[] = []): void {
    passPoint();
    super.write(changes, dropped);
    this.#onApplied();
    passPoint();
  }
}
