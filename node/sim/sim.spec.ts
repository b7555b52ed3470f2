import { expect } from "chai";
import { describeRun, drawScript, type RunResult, Simulation } from "./index.ts";

/** Runs that everybody makes; longer ones are made with `npm run sim`. */
const SEEDS = 40;

describe("a simulated cluster", function () {
  // A run takes a second or two of a processor, of which there may be little.
  this.timeout(60_000);

  const counts: RunResult["counts"][] = [];

  for (let seed = 1; seed <= SEEDS; seed++) {
    it(`keeps every rule with seed ${seed}`, () => {
      const result = new Simulation(drawScript(seed)).run();
      expect(result.failure, describeRun(result)).to.equal(null);
      counts.push(result.counts);
    });
  }

  it("lives through what it is meant to live through", () => {
    const sum = (name: string): number => counts.reduce((total, one) => total + (one[name] ?? 0), 0);
    for (const name of ["answered", "reads", "faults", "changes", "snapshots", "leaders", "wiped", "expired"]) {
      expect(sum(name), name).to.be.above(2);
    }
  });

  it("is the same for the same seed, and another one for another", () => {
    const [first, again, other] = [4, 4, 5].map((seed) => new Simulation(drawScript(seed)).run());
    expect(again?.traceHash).to.equal(first?.traceHash);
    expect(again?.counts).to.deep.equal(first?.counts);
    expect(other?.traceHash).not.to.equal(first?.traceHash);
  });
});
