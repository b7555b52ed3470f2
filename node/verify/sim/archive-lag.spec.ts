import { expect } from "chai";
import { DEFAULT_ARCHIVE_LIMITS } from "../../src/archive/index.ts";
import { describeRun, drawScript, type Script, Simulation } from "./index.ts";

/** A run without faults that archives. */
const STEADY_SEED = 93;
const ROUNDS = 4;
/** How long acknowledged writes may wait by design; the time of the store comes on top. */
const WAIT_MS = 10_000;
const MARGIN_MS = 1_000;

/** The same operations again and again, archived with the default settings of a member. */
function longScript(): Script {
  const { seed, plan, items } = drawScript(STEADY_SEED);
  const { archive, isSteady, durationMs } = plan;
  if (archive === null || !isSteady) {
    return expect.fail("the seed has no archive, or faults");
  }
  const rounds = Array.from({ length: ROUNDS }, (_, round) => {
    return items.map((item) => ({ ...item, atMs: item.atMs + round * durationMs }));
  });
  const usual = { ...archive, limits: DEFAULT_ARCHIVE_LIMITS, requestMs: 100, intervalMs: 20_000 };
  return { seed, plan: { ...plan, durationMs: durationMs * ROUNDS, archive: usual }, items: rounds.flat() };
}

describe("the archive of a cluster without faults", function () {
  this.timeout(60_000);

  it("is behind by ten seconds at most, and the time that its store takes", async () => {
    const simulation = new Simulation(longScript());
    const result = await simulation.run();
    expect(result.failure, describeRun(result)).to.equal(null);
    expect(result.counts.archived).to.be.greaterThan(3);
    expect(simulation.archiveLagMsMax).to.be.within(WAIT_MS * 0.9, WAIT_MS + MARGIN_MS);
  });
});
