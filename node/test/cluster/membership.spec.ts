import { expect } from "chai";
import { drawnSeed } from "../../../testing/index.ts";
import { ClusterUnderTest, type ConcurrentLoad, until } from "../harness/index.ts";
import { requireCorrect } from "./correctness.ts";

const WRITES = 100;
/** A few hundred operations a second are enough for each step to happen under load. */
const REST_MS = 8;

/** Removes members from the cluster. Clients leave them first, and the leadership goes to one that stays. */
async function shrink(cluster: ClusterUnderTest, load: ConcurrentLoad, ...leaving: readonly string[]): Promise<void> {
  const staying = cluster.members.filter(({ name }) => !leaving.includes(name));
  load.connectTo(staying.map(({ grpc }) => grpc));
  if (leaving.includes((await cluster.leader()).name)) {
    await cluster.transfer(staying[0]?.name ?? "");
  }
  await cluster.remove(...leaving);
  await Promise.all(leaving.map((name) => untilRemoved(cluster, name)));
  for (const name of leaving) {
    await cluster.forget(name);
  }
  await load.untilAcknowledged(WRITES);
}

/** A removed member ends, and reports its removal at every later start. */
async function untilRemoved(cluster: ClusterUnderTest, name: string): Promise<void> {
  const member = cluster.member(name);
  await until(`${name} to notice that it was removed`, async () => {
    return !member.isAlive || (await member.status())?.state === "MEMBER_REMOVED";
  });
  await member.restart();
  const { alarms } = await member.untilState("MEMBER_REMOVED");
  expect(alarms.join()).to.not.equal("");
}

describe("the membership under load", () => {
  it("goes from one to three to five to three to one, and every history stays correct (P16 to P22)", async () => {
    await ClusterUnderTest.with(1, async (cluster) => {
      const seed = drawnSeed("membership");
      const load = cluster.load({ clients: 4, keys: 5, seed, restMs: REST_MS });
      const startMs = performance.now();
      load.start();
      for (const names of [
        ["q-1", "q-2"],
        ["q-3", "q-4"],
      ]) {
        await load.untilAcknowledged(WRITES);
        await cluster.add(...names);
        await cluster.promote(...names);
        await cluster.untilReady();
        load.connectTo(cluster.endpoints);
        load.renewKeys();
        await load.untilAcknowledged(WRITES);
      }
      // A member that stays leads, so that the founder is not the only one to remove others.
      await cluster.transfer("q-3");
      await shrink(cluster, load, "q-0", "q-4");
      load.renewKeys();
      await cluster.transfer("q-2");
      await shrink(cluster, load, "q-2", "q-3");
      await load.stop();
      const { acknowledgedWrites, failed, unknown, failures } = load.statistics(startMs, performance.now());
      console.log(
        `      ${acknowledgedWrites} acknowledged writes, ${failed} failed, ${unknown} unknown ${[...failures.keys()].join("; ")}`.trimEnd(),
      );
      requireCorrect(load.history);
      expect(cluster.members.map(({ name }) => name)).to.deep.equal(["q-1"]);
    });
  });
});
