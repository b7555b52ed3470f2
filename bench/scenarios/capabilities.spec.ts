import { expect } from "chai";
import { ClusterInMemory, failureOf, performed } from "../test/index.ts";
import { scenarios } from "./index.ts";

describe("a system that has nothing", () => {
  for (const { name, createWorkload } of scenarios) {
    it(`ends the scenario ${name} with the missing ability`, async () => {
      const cluster = new ClusterInMemory();
      const connect = cluster.connect.bind(cluster);
      cluster.connect = async (member) => ({
        ...(await connect(member)),
        keys: null,
        locks: null,
        sessions: null,
        regions: null,
        logs: null,
      });
      const failure = await failureOf(performed(createWorkload(16), cluster, 4, 20));
      expect(failure).to.match(/this system has no (?:keys|locks|sessions|memory regions|event logs)$/);
    });
  }
});
