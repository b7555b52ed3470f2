import { expect } from "chai";
import { drawnSeed } from "../../../testing/index.ts";
import { ClusterUnderTest } from "../harness/index.ts";
import { requireCorrect } from "./correctness.ts";

const TRANSFERS = 3;
const WRITES = 100;

describe("three members under load", () => {
  it(`fail no request when the leader is changed as planned, ${TRANSFERS} times`, async () => {
    await ClusterUnderTest.with(3, async (cluster) => {
      const load = cluster.load({ clients: 4, keys: 5, seed: drawnSeed("planned changes") });
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
      const load = cluster.load({ clients: 4, keys: 5, seed: drawnSeed("planned changes") });
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
});
