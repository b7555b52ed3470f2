import { expect } from "chai";
import { ClusterInMemory, failureOf, performed } from "../test/index.ts";
import { keysOf } from "./capabilities.ts";
import { transact } from "./transact.ts";

describe("scenario transact", () => {
  it("puts new keys, as many in each transaction as the point says", async () => {
    const cluster = new ClusterInMemory();
    const { operations } = await performed(transact.createWorkload(16), cluster, 7, 20);
    expect(operations).to.equal(20);
    // One key shows the revision before.
    expect(cluster.values.size).to.equal(1 + 7 * 20);
    expect([...cluster.values.values()].every(({ value }) => value.length === 16)).to.equal(true);
  });

  for (const [puts, expected] of [
    [999, 16],
    [1_000, 4],
  ] as const) {
    it(`has ${expected} transactions of ${puts} puts in flight`, async () => {
      const cluster = new ClusterInMemory();
      const connect = cluster.connect.bind(cluster);
      let [inFlight, most] = [0, 0];
      cluster.connect = async (member) => {
        const connection = await connect(member);
        const keys = keysOf(connection);
        const { transact: putAll } = keys;
        const putSlowly: typeof putAll = async (...args) => {
          most = Math.max(most, ++inFlight);
          await new Promise((resolve) => setImmediate(resolve));
          inFlight--;
          return putAll(...args);
        };
        return Object.assign(connection, { keys: Object.assign(keys, { transact: putSlowly }) });
      };
      await performed(transact.createWorkload(1), cluster, puts, 40);
      expect(most).to.equal(expected);
    });
  }

  it("fails when the puts of a transaction have a revision each", async () => {
    const cluster = new ClusterInMemory();
    cluster.faults.splitsTransactions = true;
    const failure = await failureOf(performed(transact.createWorkload(16), cluster, 3, 20));
    expect(failure).to.match(/20 operations were acknowledged, but the revision grew by 60 instead of 20$/);
  });

  it("fails when a transaction has left out a put", async () => {
    const cluster = new ClusterInMemory();
    cluster.faults.cutsTransactions = true;
    const failure = await failureOf(performed(transact.createWorkload(16), cluster, 3, 20));
    expect(failure).to.match(/there is no bench\/transact\/[0-9]+$/);
  });
});
