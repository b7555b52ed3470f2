/** A share of the mutants; each commit has another one. */

import { createHash } from "node:crypto";
import type { Mutant } from "./mutant.ts";

/** Chooses `count` mutants by the text alone. */
export function choose(mutants: readonly Mutant[], count: number, by: string): Mutant[] {
  const rank = ({ name }: Mutant): string => createHash("sha256").update(`${by} ${name}`).digest("hex");
  const ranked = mutants.map((mutant) => ({ mutant, rank: rank(mutant) }));
  ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return ranked.slice(0, count).map(({ mutant }) => mutant);
}
