/** A share of the mutants, another one with each commit. */

import { createHash } from "node:crypto";
import type { Mutant } from "./mutant.ts";

/** So many of the mutants, decided by the text alone. */
export function choose(mutants: readonly Mutant[], count: number, by: string): Mutant[] {
  const rank = ({ name }: Mutant): string => createHash("sha256").update(`${by} ${name}`).digest("hex");
  const ranked = mutants.map((mutant) => ({ mutant, rank: rank(mutant) }));
  ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return ranked.slice(0, count).map(({ mutant }) => mutant);
}
