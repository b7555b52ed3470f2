import { expect } from "chai";
import { ClusterInMemory, failureOf, performed } from "../test/index.ts";
import { session } from "./session.ts";

describe("scenario session", () => {
  it("creates sessions, besides those that are there", async () => {
    const cluster = new ClusterInMemory();
    cluster.sessions.add(1n);
    const { operations } = await performed(session.createWorkload(0), cluster, 4, 20);
    expect(operations).to.equal(20);
    // One session shows the revision before.
    expect(cluster.sessions.size).to.equal(22);
  });

  it("fails when a session was acknowledged that is not there", async () => {
    const cluster = new ClusterInMemory();
    cluster.faults.forgetsSessions = true;
    const failure = await failureOf(performed(session.createWorkload(0), cluster, 4, 20));
    expect(failure).to.match(/21 sessions were created, but there are 0$/);
  });
});
