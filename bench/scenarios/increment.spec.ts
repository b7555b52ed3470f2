import { expect } from "chai";
import { ClusterInMemory, failureOf, performed } from "../test/index.ts";
import { increment } from "./increment.ts";

describe("scenario increment", () => {
  it("increments the counter by one request each", async () => {
    const cluster = new ClusterInMemory();
    const { operations, attempts } = await performed(increment.createWorkload(0), cluster, 4, 20);
    expect([operations, attempts]).to.deep.equal([20, 20]);
    expect(cluster.values.get("bench/incremented")?.value.toString()).to.equal("20");
  });

  it("compares and swaps in a system without increments", async () => {
    const cluster = new ClusterInMemory();
    cluster.faults.lacksIncrements = true;
    const { operations, attempts } = await performed(increment.createWorkload(0), cluster, 4, 20);
    expect(operations).to.equal(20);
    expect(attempts).to.be.above(20);
    expect(cluster.values.get("bench/incremented")?.value.toString()).to.equal("20");
  });

  it("fails when an increment was not done", async () => {
    const cluster = new ClusterInMemory();
    cluster.faults.forgetsIncrements = true;
    const failure = await failureOf(performed(increment.createWorkload(0), cluster, 4, 20));
    expect(failure).to.match(/raised 20 times, but holds 0$/);
  });
});
