/** What specs beside a model share: weighted steps of several kinds, the model's answer or refusal, and restarts. */

import { expect } from "chai";
import fc from "fast-check";
import { CoordinationError } from "../src/state/index.ts";
import { type AppliedLog, applyRows, dumpOf } from "./applied-log.ts";
import { MemoryStateStore } from "./memory-state-store.ts";

/** A kind of step for `fc.oneof`: it comes as often as its weight says, and its fields are drawn. */
export function stepOf<const Kind extends string, Fields extends object>(
  weight: number,
  kind: Kind,
  fields: { readonly [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> },
): { weight: number; arbitrary: fc.Arbitrary<{ readonly kind: Kind } & Fields> } {
  const arbitrary = fc.record({ kind: fc.constant(kind), ...fields });
  return { weight, arbitrary: arbitrary as fc.Arbitrary<{ readonly kind: Kind } & Fields> };
}

/** The answer of a model, or the CoordinationError that it throws. */
export function answerOrRefusal<Answer>(ask: () => Answer): Answer | CoordinationError {
  try {
    return ask();
  } catch (error) {
    if (error instanceof CoordinationError) {
      return error;
    }
    throw error;
  }
}

/**
 * Applies the log again: the prefix to one store, and the rest, in slices, to another store that was given the rows of
 * the first. A member that starts from a snapshot does the same.
 */
export function expectSameFromRestart(log: AppliedLog, prefix: number, sliceEntries: number): void {
  const { rows } = log;
  const slices = new Set(rows.map((_, at) => at + 1).filter((index) => index % sliceEntries === 0));
  const before = new MemoryStateStore();
  applyRows(log.machineOver(before), rows.slice(0, prefix), slices);
  const store = new MemoryStateStore();
  before.scan(new Uint8Array(0), Uint8Array.of(0xff), ({ key, value }) => {
    store.write([{ key, value }]);
    return true;
  });
  const restarted = log.machineOver(store);
  applyRows(restarted, rows.slice(prefix), slices);
  expect(restarted.progress).to.deep.equal(log.progress);
  expect(dumpOf(store).join("\n") === log.dump().join("\n"), "the same rows").to.equal(true);
}
