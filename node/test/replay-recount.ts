/**
 * Counts the stored answers of each generation, and their bytes, from the rows one by one. The stored counts must be
 * the same.
 */

import { expect } from "chai";
import { type GenerationTotals, readProgress, type StateReader, scanGenerations } from "../src/state/index.ts";

const TABLE = 0x72; // r
const GENERATION_AT = 1;

type Counted = readonly (readonly [generation: number, totals: GenerationTotals])[];

/** Throws an AssertionError unless every generation holds what its row says, and all of them what the progress says. */
export function expectExactReplays(state: StateReader): void {
  const { stored, counted } = replaysTwice(state);
  expect(stored).to.deep.equal(counted);
  expect(counted.reduce((sum, [, { count }]) => sum + count, 0)).to.equal(readProgress(state).storedAnswers);
}

/** The content of the generations, ascending: as their rows say, and counted. */
export function replaysTwice(state: StateReader): { readonly stored: Counted; readonly counted: Counted } {
  const stored: [number, GenerationTotals][] = [];
  scanGenerations(state, (generation, totals) => stored.push([generation, totals]) > 0);
  const counted = new Map<number, { count: number; bytes: number }>();
  state.scan(Uint8Array.of(TABLE), Uint8Array.of(TABLE + 1), ({ key, value }) => {
    const generation = Number(Buffer.from(key).readBigUInt64BE(GENERATION_AT));
    const totals = counted.get(generation) ?? { count: 0, bytes: 0 };
    totals.count++;
    totals.bytes += key.length + value.length;
    counted.set(generation, totals);
    return true;
  });
  return { stored, counted: [...counted] };
}
