import { expect } from "chai";
import { drawnSeed } from "../../../testing/index.ts";
import { firstDifferenceOf } from "./determinism.ts";
import { runInProcesses } from "./seed-processes.ts";
import { runSeed, type SeedReport } from "./seed-run.ts";

/** Number of runs that are made twice. */
const COUNT = 2;
const FIRST = drawnSeed("two runs of a seed", COUNT);
/** Far longer than these runs take on a busy machine. */
const OTHER_PROCESS_LIMIT_MS = 240_000;

describe("two runs of a seed, in two processes", function () {
  // A run takes one or two seconds of a processor, which may be busy.
  this.timeout(60_000);

  const elsewhere: SeedReport[] = [];

  before(async function () {
    this.timeout(OTHER_PROCESS_LIMIT_MS);
    process.stdout.write(`${COUNT} seeds from ${FIRST} on, twice\n`);
    for await (const report of runInProcesses({ first: FIRST, count: COUNT, isShrunk: false }, 1)) {
      elsewhere.push(report);
    }
  });

  for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
    it(`are the same with seed ${seed}`, async () => {
      const here = await runSeed(seed, { isShrunk: false, listener: null });
      const other = elsewhere[seed - FIRST] as SeedReport;
      expect(firstDifferenceOf(here, other), here.words).to.equal(null);
      expect(other.words).to.equal(here.words);
      expect({ ...other.tally, cpuMs: 0 }).to.deep.equal({ ...here.tally, cpuMs: 0 });
    });
  }

  it("differ from those of other seeds", () => {
    expect(new Set(elsewhere.map(({ traceHash }) => traceHash)).size).to.equal(COUNT);
  });
});

describe("two runs that differ", () => {
  it("differ after the last thousand lines that they have in common", () => {
    const one = { traceHash: "c", checkpoints: ["1", "2", "3"] };
    expect(firstDifferenceOf(one, { traceHash: "d", checkpoints: ["1", "2", "4"] })).to.equal(
      "trace c, then d: they part after line 2000",
    );
    expect(firstDifferenceOf(one, { traceHash: "d", checkpoints: ["1"] })).to.contain("after line 1000");
    expect(firstDifferenceOf(one, { traceHash: "d", checkpoints: ["1", "2", "3", "4"] })).to.contain("after line 3000");
  });
});
