/** The states before and after the install of crash-install.spec.ts, the same in every process. */

import type { Row } from "../../src/state/index.ts";
import { AppliedLog, putOf, rowsOf } from "../index.ts";

/** A whole state, and the last entry in it. */
export interface KnownState {
  readonly rows: readonly Row[];
  readonly index: number;
  readonly term: number;
}

const PUTS = 40;
const VALUE_BYTES = 20_000;

/** The state after the founding. */
export function stateBefore(): KnownState {
  return knownState(new AppliedLog());
}

/** The state of the other members, with this many more keys. */
export function stateAfter(): KnownState {
  const log = new AppliedLog();
  for (let number = 0; number < PUTS; number++) {
    log.execute(putOf(`key-${number}`, Buffer.alloc(VALUE_BYTES, number)));
  }
  return knownState(log);
}

function knownState(log: AppliedLog): KnownState {
  const { appliedIndex, appliedTerm } = log.progress;
  return { rows: rowsOf(log.store), index: appliedIndex, term: appliedTerm };
}
