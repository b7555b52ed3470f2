import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { runKillRounds } from "./kill-rounds.ts";

const ROUNDS = 40;
const SEED_MAX = 0x1_0000_0000;

describe("a member that is killed under load and started again", function () {
  this.timeout(600_000);

  it(`loses no acknowledged write and applies none twice, ${ROUNDS} times (S10, S11, S12, S13)`, async () => {
    const directory = mkdtempSync(join(tmpdir(), "quoin-test-kill-"));
    const seed = randomInt(SEED_MAX);
    console.log(`      seed ${seed}`);
    try {
      const summary = await runKillRounds({ directory, rounds: ROUNDS, seed });
      expect(summary.acknowledged).to.be.above(ROUNDS);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
