import { expect } from "chai";
import { drawnSeed } from "../../../testing/index.ts";
import { Chaos } from "./index.ts";

/** Few, because the simulator runs the same cores with the rest of a member; `npm run explore` draws others. */
const SEEDS = 50;
const FIRST = drawnSeed("clusters of cores", SEEDS);
const EVENTS = 6_000;
const BATCH = 25;

function live(seed: number, events: number): Chaos {
  const chaos = new Chaos(seed);
  try {
    chaos.run(events);
    chaos.heal();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`seed ${seed}: ${reason}\n${chaos.trace.slice(-60).join("\n")}`, { cause: error });
  }
  return chaos;
}

describe("clusters of cores under random faults", () => {
  for (let first = FIRST; first < FIRST + SEEDS; first += BATCH) {
    it(`keep every rule, and come to rest when healed: seeds ${first} to ${first + BATCH - 1}`, () => {
      const reached = { commits: 0, terms: 0, reads: 0, snapshots: 0, changes: 0, transfers: 0, crashes: 0 };
      for (let seed = first; seed < first + BATCH; seed++) {
        const { summary } = live(seed, EVENTS);
        reached.commits += summary.commits;
        reached.terms += summary.terms;
        reached.reads += summary.reads;
        reached.snapshots += summary.snapshots;
        reached.changes += summary.changes;
        reached.transfers += summary.transfers;
        reached.crashes += summary.crashes;
      }
      // Without this check, a change that ends every run in its first steps would stay unnoticed.
      for (const [name, count] of Object.entries(reached)) {
        expect(count, name).to.be.above(0);
      }
      expect(reached.commits).to.be.above(10 * BATCH);
      expect(reached.terms).to.be.above(2 * BATCH);
    });
  }

  it("live the same life for the same seed", () => {
    for (const seed of [1, 2, 3]) {
      expect(live(seed, 1_500).trace).to.deep.equal(live(seed, 1_500).trace);
    }
  });
});
