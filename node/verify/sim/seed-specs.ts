/** Runs of the simulator as specs. Their seeds are fixed; `npm run sim` and `npm run explore` make other runs. */

import { expect } from "chai";
import { shortCommit } from "./commit.ts";
import { describeRun } from "./report.ts";
import type { RunResult } from "./run-result.ts";
import { drawScript } from "./script.ts";
import { repeatSeed } from "./seed-run.ts";
import { Simulation } from "./simulation.ts";

/**
 * Describes a spec for each of these seeds.
 *
 * @returns what the runs counted, once they are over
 */
export function describeSeeds(first: number, last: number): readonly RunResult["counts"][] {
  const counts: RunResult["counts"][] = [];
  for (let seed = first; seed <= last; seed++) {
    it(`keeps every rule with seed ${seed}`, async () => {
      const result = await new Simulation(drawScript(seed)).run();
      const { failure } = result;
      const surroundings = failure === null ? null : { commit: shortCommit(), repeat: repeatSeed(seed) };
      expect(failure, describeRun(result, surroundings)).to.equal(null);
      counts.push(result.counts);
    });
  }
  return counts;
}
