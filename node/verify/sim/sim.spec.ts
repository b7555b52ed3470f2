import { expect } from "chai";
import { commitText, firstSeedOf, shortCommit } from "./commit.ts";
import { describeRun, drawScript, type RunResult, Simulation } from "./index.ts";
import { repeatSeed } from "./seed-run.ts";

/** The number of runs; each commit has its own. `npm run sim` makes more. */
const COUNT = 300;
const FIRST = firstSeedOf(commitText(), "new runs", COUNT);

describe("a simulated cluster", function () {
  // A run takes one or two seconds of a processor, which may be busy.
  this.timeout(60_000);

  const counts: RunResult["counts"][] = [];

  before(() => {
    process.stdout.write(`${COUNT} seeds from ${FIRST} on\n`);
  });

  for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
    it(`keeps every rule with seed ${seed}`, async () => {
      const result = await new Simulation(drawScript(seed)).run();
      const { failure } = result;
      const surroundings = failure === null ? null : { commit: shortCommit(), repeat: repeatSeed(seed) };
      expect(failure, describeRun(result, surroundings)).to.equal(null);
      counts.push(result.counts);
    });
  }

  it("covers the faults and changes that it should", () => {
    const sum = (name: string): number => counts.reduce((total, one) => total + (one[name] ?? 0), 0);
    for (const name of [
      ...["answered", "reads", "faults", "changes", "snapshots", "leaders", "wiped", "expired"],
      ...["grants", "lapsed", "fenced", "regions", "erasures", "streams", "told", "compacted"],
      ...["appends", "duplicates", "conflicts", "removed", "revocations", "refused"],
      ...["archived", "archive snapshots", "pruned", "breaks", "forks", "archive failures"],
    ]) {
      expect(sum(name), name).to.be.above(2);
    }
  });
});
