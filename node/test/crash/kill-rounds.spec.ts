import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { drawnSeed } from "../../../testing/index.ts";
import { runKillRounds } from "./kill-rounds.ts";

/** `npm run explore` makes more. */
const ROUNDS = 8;

describe("a member that is killed under load and started again", function () {
  this.timeout(600_000);

  it(`loses no acknowledged write and applies none twice, ${ROUNDS} times (S10, S11, S12, S13)`, async () => {
    const directory = mkdtempSync(join(tmpdir(), "quoin-test-kill-"));
    const seed = drawnSeed("kill rounds");
    try {
      const summary = await runKillRounds({ directory, rounds: ROUNDS, seed });
      expect(summary.acknowledged).to.be.above(ROUNDS);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
