import { expect } from "chai";
import { drawnSeed } from "../../../testing/index.ts";
import { ClusterUnderTest, type ConcurrentLoad } from "../harness/index.ts";
import { requireCorrect } from "./correctness.ts";

const TRANSFERS = 3;
const WRITES = 100;
/** Some operations are in progress at each moment, at a few hundred a second. */
const REST_MS = 8;

/** No request has failed since then. Prints the longest time without an acknowledged write. */
function requireSuccess(load: ConcurrentLoad, startMs: number): void {
  const { failed, unknown, failures, writeGapMs } = load.statistics(startMs, performance.now());
  console.log(`      no acknowledged write for ${Math.round(writeGapMs)} ms`);
  expect([failed, unknown], [...failures.keys()].join("; ")).to.deep.equal([0, 0]);
}

describe("three members under load", () => {
  it(`fail no request when the leader is changed as planned, ${TRANSFERS} times, nor when each is stopped in order and started again (S47)`, async () => {
    await ClusterUnderTest.with(3, async (cluster) => {
      const load = cluster.load({ clients: 4, keys: 5, seed: drawnSeed("planned changes"), restMs: REST_MS });
      load.start();
      for (let transfer = 0; transfer < TRANSFERS; transfer++) {
        await load.untilAcknowledged(WRITES);
        const { name } = await cluster.follower();
        const startMs = performance.now();
        await cluster.transfer(name);
        expect((await cluster.leader()).name).to.equal(name);
        await load.untilAcknowledged(WRITES);
        requireSuccess(load, startMs);
      }
      load.renewKeys();
      const startMs = performance.now();
      for (const member of cluster.members) {
        await load.untilAcknowledged(WRITES);
        expect(await member.stop()).to.deep.equal({ code: 0, signal: null });
        member.start();
        await member.untilReady();
      }
      await load.untilAcknowledged(WRITES);
      await load.stop();
      requireSuccess(load, startMs);
      requireCorrect(load.history);
    });
  });
});
