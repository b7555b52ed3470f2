import { expect } from "chai";
import type { WatchedPut } from "../clusters/index.ts";
import { ClusterInMemory, failureOf, performed } from "../test/index.ts";
import { watch } from "./watch.ts";

describe("scenario watch", () => {
  let cluster: ClusterInMemory;

  beforeEach(() => {
    cluster = new ClusterInMemory();
  });

  it("times each delivery, from the sending and from the answer", async () => {
    const { operations, timings } = await performed(watch.createWorkload(16), cluster, 7, 10);
    expect(operations).to.equal(10);
    expect(timings.map(({ name, valuesMs }) => [name, valuesMs.length])).to.deep.equal([
      ["from sending", 70],
      ["from answer", 70],
    ]);
    const [sending, answer] = timings.map(({ valuesMs }) => valuesMs);
    expect(sending?.every((valueMs, at) => valueMs >= (answer?.[at] ?? Number.NaN))).to.equal(true);
  });

  it("spreads the watchers over all members, and begins with a follower", async () => {
    await performed(watch.createWorkload(16), cluster, 100, 1);
    const counts = cluster.members.map((member) => cluster.watches.filter((one) => one.member === member).length);
    expect(counts.reduce((sum, count) => sum + count)).to.equal(100);
    expect(Math.max(...counts) - Math.min(...counts)).to.be.at.most(1);
    expect(cluster.watches[0]?.member).to.not.equal(cluster.leader);
  });

  for (const [what, tell, message] of [
    ["twice", (put: WatchedPut) => [put, put], "behind revision"],
    ["of another revision", ({ key, revision }: WatchedPut) => [{ key, revision: revision + 1n }], "but watchers"],
    ["of another key", ({ revision }: WatchedPut) => [{ key: "bench/watch/x", revision }], "is not expected"],
  ] as const) {
    it(`fails when watchers receive a put ${what}`, async () => {
      cluster.faults.deliver = tell;
      expect(await failureOf(performed(watch.createWorkload(16), cluster, 3, 5))).to.contain(message);
    });
  }

  it("fails when one watcher receives the last puts in another order", async () => {
    const kept: WatchedPut[] = [];
    cluster.faults.deliver = (put, watcher) => {
      if (watcher !== 1 || cluster.puts < 8) {
        return [put];
      }
      // In pairs, the later one first.
      kept.push(put);
      return kept.length === 2 ? kept.splice(0).toReversed() : [];
    };
    expect(await failureOf(performed(watch.createWorkload(16), cluster, 3, 5))).to.contain("behind revision");
  });

  it("fails when a watch ends, and when it is interrupted", async () => {
    cluster.faults.deliver = (put) => {
      cluster.watches[2]?.listener.onFailed(new Error("the stream ended"));
      return [put];
    };
    expect(await failureOf(performed(watch.createWorkload(16), cluster, 3, 5))).to.contain("the stream ended");
    cluster.watches.length = 0;
    const { leader } = await cluster.findLeader();
    const interrupting = new AbortController();
    cluster.faults.deliver = () => {
      interrupting.abort(new Error("interrupted by SIGINT"));
      return [];
    };
    const load = await watch.createWorkload(16).open({ cluster, leader, members: [leader] }, 3);
    const failure = await failureOf(load.run({ ms: 60_000, operations: 5 }, interrupting.signal));
    expect(failure).to.contain("interrupted by SIGINT");
    load.close();
  });
});
