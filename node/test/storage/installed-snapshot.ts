/** The states before and after the install of crash-install.spec.ts, the same in every process. */

import type { Row, StateReader } from "../../src/state/index.ts";
import { AppliedLog } from "../index.ts";

/** A whole state, and the entry whose effects are its last. */
export interface KnownState {
  readonly rows: readonly Row[];
  readonly index: number;
  readonly term: number;
}

/** The first key that is a store's own, and no part of the replicated state. */
const REPLICATED_ROWS_END = Uint8Array.of(0x79);
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
    log.execute({
      kind: "put-key",
      namespace: "default",
      key: Buffer.from(`key-${number}`),
      value: Buffer.alloc(VALUE_BYTES, number),
      ttlSeconds: 0,
      expectedModRevision: undefined,
      returnPrevious: false,
    });
  }
  return knownState(log);
}

/** All replicated rows, ascending. */
export function rowsOf(reader: StateReader): Row[] {
  const rows: Row[] = [];
  reader.scan(Uint8Array.of(0), REPLICATED_ROWS_END, (row) => rows.push(row) > 0);
  return rows;
}

function knownState(log: AppliedLog): KnownState {
  const { appliedIndex, appliedTerm } = log.progress;
  return { rows: rowsOf(log.store), index: appliedIndex, term: appliedTerm };
}
