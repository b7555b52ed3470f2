import { expect } from "chai";
import { drawnSeed, temporaryDirectory } from "../../../testing/index.ts";
import { runKillRounds } from "./kill-rounds.ts";

/** `npm run explore` makes more. */
const ROUNDS = 8;

describe("a member that is killed under load and started again", function () {
  this.timeout(600_000);

  it(`loses no acknowledged write and applies none twice, ${ROUNDS} times (S10, S11, S12, S13)`, async () => {
    const directory = temporaryDirectory();
    const seed = drawnSeed("kill rounds");
    const summary = await runKillRounds({ directory, rounds: ROUNDS, seed });
    expect(summary.acknowledged).to.be.above(ROUNDS);
  });
});
