import { expect } from "chai";
import { ClusterInMemory, failureOf, performed } from "../test/index.ts";
import { lock } from "./lock.ts";

describe("scenario lock", () => {
  it("counts a grant and a release for each cycle", async () => {
    const cluster = new ClusterInMemory();
    const { operations, timings } = await performed(lock.createWorkload(0), cluster, 3, 30);
    expect(operations).to.equal(30);
    expect(timings.map(({ valuesMs }) => valuesMs.length)).to.deep.equal([30]);
    // Three locks were created, and one was taken before.
    expect(cluster.revision).to.equal(100n + 3n + 2n + 60n);
  });

  it("fails when tokens do not grow", async () => {
    const cluster = new ClusterInMemory();
    cluster.faults.repeatsTokens = true;
    expect(await failureOf(performed(lock.createWorkload(0), cluster, 1, 2))).to.contain(
      "but the hold before it ended",
    );
  });
});
