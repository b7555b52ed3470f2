/** The state that entries of a golden log make, from nothing or from rows that are there, by the state machine of today. */

import type { Outcome, StateMachine } from "../../src/state/index.ts";
import { MemoryStateStore, machineOver } from "../index.ts";
import { reconfigureFrom } from "./golden-log.ts";

export interface Replayed {
  readonly store: MemoryStateStore;
  readonly machine: StateMachine;
}

/** Applies entries to the state. `onApplied` hears of each, after a commit; without it there is one commit at the end. */
export function replay(
  entries: readonly Uint8Array[],
  store: MemoryStateStore = new MemoryStateStore(),
  onApplied?: (machine: StateMachine, outcome: Outcome | null) => void,
): Replayed {
  const machine = machineOver(store);
  const reconfigure = reconfigureFrom(store);
  for (const entry of entries) {
    const outcome = machine.apply(entry, reconfigure);
    if (onApplied !== undefined) {
      machine.commit();
      onApplied(machine, outcome);
    }
  }
  machine.commit();
  return { store, machine };
}
