import { expect } from "chai";
import { ClusterInMemory, failureOf, performed } from "../test/index.ts";
import { append, appendBatch, appendByHttp, appendKeyed, tail } from "./event-logs.ts";

describe("scenarios of event logs", () => {
  for (const { name, createWorkload } of [append, appendKeyed, appendByHttp, appendBatch, tail]) {
    it(`store their events: ${name}`, async () => {
      const cluster = new ClusterInMemory();
      const { operations } = await performed(createWorkload(16), cluster, 4, 20);
      expect(operations).to.equal(20);
    });

    it(`fail when acknowledged events are missing: ${name}`, async () => {
      const cluster = new ClusterInMemory();
      cluster.faults.forgetsAppends = true;
      expect(await failureOf(performed(createWorkload(16), cluster, 4, 20))).to.contain("were acknowledged");
    });

    it(`fail where there are no event logs: ${name}`, async () => {
      const cluster = new ClusterInMemory();
      const connect = cluster.connect.bind(cluster);
      cluster.connect = async (member) => ({ ...(await connect(member)), logs: null });
      expect(await failureOf(performed(createWorkload(16), cluster, 4, 20))).to.contain("no event logs");
    });
  }
});
