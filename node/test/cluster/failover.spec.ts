import { expect } from "chai";
import { drawnSeed } from "../../../testing/index.ts";
import { ClusterUnderTest, type ConcurrentLoad } from "../harness/index.ts";
import { requireCorrect } from "./correctness.ts";
import { killLeaders } from "./leader-kill-rounds.ts";

const ROUNDS = 3;
const TRANSFERS = 3;
const WRITES = 100;
/** Shorter than an election: some outcomes stay unknown. */
const IMPATIENT_MS = 700;

function loadOn(cluster: ClusterUnderTest, clients: number, timeoutMs = 5_000): ConcurrentLoad {
  const seed = drawnSeed("failover");
  return cluster.load({ clients, keys: 5, seed, timeoutMs });
}

describe("three members under load", () => {
  it(`go on when the leader is killed, ${ROUNDS} times, and lose nothing (G1, G2, G3, P52)`, async () => {
    await ClusterUnderTest.with(3, async (cluster) => {
      const load = loadOn(cluster, 6, IMPATIENT_MS);
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

  it(`fail no request when the leader is changed as planned, ${TRANSFERS} times`, async () => {
    await ClusterUnderTest.with(3, async (cluster) => {
      const load = loadOn(cluster, 4);
      load.start();
      const gapsMs: number[] = [];
      for (let transfer = 0; transfer < TRANSFERS; transfer++) {
        await load.untilAcknowledged(WRITES);
        const { name } = await cluster.follower();
        const startMs = performance.now();
        await cluster.transfer(name);
        expect((await cluster.leader()).name).to.equal(name);
        await load.untilAcknowledged(WRITES);
        const { failed, unknown, failures, writeGapMs } = load.statistics(startMs, performance.now());
        expect([failed, unknown], [...failures.keys()].join("; ")).to.deep.equal([0, 0]);
        gapsMs.push(writeGapMs);
      }
      await load.stop();
      console.log(`      no acknowledged write for ${gapsMs.map(Math.round).join(", ")} ms`);
      requireCorrect(load.history);
    });
  });

  it("fail no request when each is stopped in order and started again, one after the other (S47)", async () => {
    await ClusterUnderTest.with(3, async (cluster) => {
      const load = loadOn(cluster, 4);
      const startMs = performance.now();
      load.start();
      for (const member of cluster.members) {
        await load.untilAcknowledged(WRITES);
        expect(await member.stop()).to.deep.equal({ code: 0, signal: null });
        member.start();
        await member.untilReady();
      }
      await load.untilAcknowledged(WRITES);
      await load.stop();
      const { failed, unknown, failures, writeGapMs } = load.statistics(startMs, performance.now());
      console.log(`      no acknowledged write for ${Math.round(writeGapMs)} ms`);
      expect([failed, unknown], [...failures.keys()].join("; ")).to.deep.equal([0, 0]);
      requireCorrect(load.history);
    });
  });

  it("lose nothing when all of them are killed at once and started again (G1)", async () => {
    await ClusterUnderTest.with(3, async (cluster) => {
      const load = loadOn(cluster, 6);
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
