/** The states before and after the install of crash-install.spec.ts, the same in every process. */

import type { Row } from "../../src/state/index.ts";
import { AppliedLog, putOf, rowsOf } from "../index.ts";

/** A whole state, and the entry whose effects are its last. */
export interface KnownState {
  readonly rows: readonly Row[];
  readonly index: number;
  readonly term: number;
}

const PUTS = 40;
const VALUE_BYTES = 20_000;

/** As the founding leaves it. */
export function stateBefore(): KnownState {
  return knownState(new AppliedLog());
}

/** As the others have it: so many keys later. */
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
