import { expect } from "chai";
import { ClusterInMemory, failureOf, performed } from "../test/index.ts";
import { handover } from "./handover.ts";

describe("scenario handover", () => {
  it("grants the lock to each waiter once in each round, and measures every one of them", async () => {
    const cluster = new ClusterInMemory();
    const result = await performed(handover.createWorkload(0), cluster, 50, 51);
    expect(result.operations).to.equal(100);
    expect(result.timings.map(({ valuesMs }) => valuesMs.length)).to.deep.equal([100]);
    expect(result.durationMs).to.be.at.most(result.elapsedMs);
    // The lock was created and taken once. In two rounds, a holder and fifty waiters had it.
    expect(cluster.revision).to.equal(100n + 1n + 2n + 2n * 51n * 2n);
  });

  it("fails when two waiters have the lock at once", async () => {
    const cluster = new ClusterInMemory();
    cluster.faults.grantsPerRelease = 2;
    const failure = await failureOf(performed(handover.createWorkload(0), cluster, 4, 1));
    expect(failure).to.contain("but the hold before it ended");
  });

  it("fails when a waiter is granted the lock beside the holder", async () => {
    const cluster = new ClusterInMemory();
    const workload = handover.createWorkload(0);
    cluster.faults.grantsWhileHeld = true;
    expect(await failureOf(performed(workload, cluster, 4, 1))).to.contain("granted the lock while it was held");
  });
});
