import { expect } from "chai";
import { drawnSeed } from "../../../testing/index.ts";
import { ClusterUnderTest } from "../harness/index.ts";
import { requireCorrect } from "./correctness.ts";
import { killLeaders } from "./leader-kill-rounds.ts";

const ROUNDS = 3;
const WRITES = 100;
/** Shorter than an election: some outcomes stay unknown. */
const IMPATIENT_MS = 700;

describe("three members under load that are killed", () => {
  it(`go on when the leader is killed, ${ROUNDS} times, and lose nothing (G1, G2, G3, P52)`, async () => {
    await ClusterUnderTest.with(3, async (cluster) => {
      const load = cluster.load({ clients: 6, keys: 5, seed: drawnSeed("killed leaders"), timeoutMs: IMPATIENT_MS });
      load.start();
      const gapsMs = await killLeaders(cluster, load, ROUNDS);
      await load.stop();
      const { failed, unknown } = load.statistics(0, performance.now());
      console.log(`      no acknowledged write for ${gapsMs.map(Math.round).join(", ")} ms`);
      console.log(`      ${load.acknowledgedWrites} acknowledged, ${failed} failed, ${unknown} unknown`);
      expect(load.acknowledgedWrites).to.be.above(ROUNDS * WRITES);
      requireCorrect(load.history);
    });
  });

  it("lose nothing when all of them are killed at once and started again (G1)", async () => {
    await ClusterUnderTest.with(3, async (cluster) => {
      const load = cluster.load({ clients: 6, keys: 5, seed: drawnSeed("killed members") });
      load.start();
      await load.untilAcknowledged(WRITES);
      await Promise.all(cluster.members.map((member) => member.kill()));
      for (const member of cluster.members) {
        member.start();
      }
      await cluster.untilReady();
      await load.untilAcknowledged(WRITES);
      await load.stop();
      requireCorrect(load.history);
    });
  });
});
