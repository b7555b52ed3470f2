import { expect } from "chai";
import { ClusterInMemory, failureOf, performed } from "../test/index.ts";
import { sessionsOf } from "./capabilities.ts";
import { keepAlive } from "./keep-alive.ts";

describe("scenario keep-alive", () => {
  it("counts renewals, of 500 sessions in each call, and keeps one call in flight for each member", async () => {
    const cluster = new ClusterInMemory();
    const connect = cluster.connect.bind(cluster);
    const inFlight = new Map<string, number>();
    cluster.connect = async (member) => {
      const connection = await connect(member);
      const sessions = sessionsOf(connection);
      const { renew } = sessions;
      const renewSlowly = async (ids: readonly bigint[]) => {
        const { endpoint } = member;
        expect(inFlight.get(endpoint) ?? 0).to.equal(0);
        inFlight.set(endpoint, 1);
        // The members have different speeds.
        for (let turn = endpoint.charCodeAt(0) - "a".charCodeAt(0); turn >= 0; turn--) {
          await new Promise((resolve) => setImmediate(resolve));
        }
        inFlight.set(endpoint, 0);
        return renew(ids);
      };
      return Object.assign(connection, { sessions: Object.assign(sessions, { renew: renewSlowly }) });
    };
    const { operations, timings } = await performed(keepAlive.createWorkload(0), cluster, 1_200, 6_000);
    expect(operations).to.equal(6_000);
    expect(timings[0]?.valuesMs.length).to.equal(12);
    expect(cluster.renewals.map(({ sessions }) => sessions)).to.deep.equal(Array(12).fill(500));
    expect(new Set(cluster.renewals.map(({ endpoint }) => endpoint)).size).to.equal(3);
    expect(cluster.sessions.size).to.equal(1_200);
  });

  it("renews fewer at once if there are fewer", async () => {
    const cluster = new ClusterInMemory();
    const { operations } = await performed(keepAlive.createWorkload(0), cluster, 5, 20);
    expect(operations).to.equal(20);
    expect(cluster.renewals.map(({ sessions }) => sessions)).to.deep.equal([5, 5, 5, 5]);
  });

  it("fails when sessions have ended", async () => {
    const cluster = new ClusterInMemory();
    cluster.faults.endsSessions = true;
    const failure = await failureOf(performed(keepAlive.createWorkload(0), cluster, 5, 20));
    expect(failure).to.match(/there were 5 sessions, but now there are 0$/);
  });
});
