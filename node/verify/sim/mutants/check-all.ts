/** Checks many mutants, several at a time. */

import { mapWithLimit } from "../../../../testing/index.ts";
import type { Mutant } from "./mutant.ts";
import { MutantChecker, type MutantResult } from "./mutant-checker.ts";
import type { Found } from "./record.ts";

/** Such a killer waits for most of its time. It leaves the cores to others, so it runs beside them. */
const WAITED_IN_VAIN = /^Error: (?:waited \d+ s in vain|Timeout of \d+ms exceeded)/;
const WAITING_AT_A_TIME = 2;

export interface CheckOptions {
  /** How many killers run at a time, besides two that wait in vain. */
  readonly atATime: number;
  /** Called for each mutant as soon as its result is known. */
  readonly onResult: (result: MutantResult) => void;
}

/** @returns the results: first those whose killers work, then those whose killers wait in vain */
export async function checkAll(
  mutants: readonly Mutant[],
  record: ReadonlyMap<string, Found>,
  { atATime, onResult }: CheckOptions,
): Promise<MutantResult[]> {
  const checker = new MutantChecker(record);
  const check = async (mutant: Mutant): Promise<MutantResult> => {
    const result = await checker.check(mutant);
    onResult(result);
    return result;
  };
  const { wait = [], work = [] } = Object.groupBy(mutants, ({ name }) => {
    return WAITED_IN_VAIN.test(record.get(name)?.rule ?? "") ? "wait" : "work";
  });
  return (await Promise.all([mapWithLimit(work, atATime, check), mapWithLimit(wait, WAITING_AT_A_TIME, check)])).flat();
}
