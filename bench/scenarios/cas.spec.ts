import { expect } from "chai";
import { ClusterInMemory, failureOf, performed } from "../test/index.ts";
import { cas } from "./cas.ts";

describe("scenario cas", () => {
  it("increments the counter once for each success, and counts late attempts", async () => {
    const cluster = new ClusterInMemory();
    const alone = await performed(cas.createWorkload(0), cluster, 1, 20);
    expect([alone.operations, alone.attempts]).to.deep.equal([20, 20]);
    expect(cluster.values.get("bench/counter")?.value.toString()).to.equal("20");
    const together = await performed(cas.createWorkload(0), new ClusterInMemory(), 4, 20);
    expect(together.operations).to.equal(20);
    expect(together.attempts).to.be.above(20);
  });

  it("fails when an increment has overwritten another one", async () => {
    const cluster = new ClusterInMemory();
    cluster.faults.swapsAlways = true;
    const failure = await failureOf(performed(cas.createWorkload(0), cluster, 4, 20));
    expect(failure).to.match(/raised 20 times, but holds ([0-9]|1[0-9])$/);
  });
});
