import { expect } from "chai";
import { followingCore, leadingCore, ReplicaCluster } from "../../../test/harness/index.ts";
import { Handover } from "./handover.ts";

describe("Handover", () => {
  let done: number;
  const count = (): void => {
    done++;
  };
  beforeEach(() => {
    done = 0;
  });

  it("is over at once for a member that does not lead, and reports it once", () => {
    const handover = new Handover(followingCore(), 1_000, count);
    expect([handover.proceed(0, false), done]).to.deep.equal([true, 1]);
    expect([handover.proceed(0, false), done]).to.deep.equal([false, 1]);
    handover.end();
    expect(done).to.equal(1);
  });

  it("is over at once for a sole voter, which has no other member to hand over to", () => {
    const handover = new Handover(leadingCore(), 1_000, count);
    expect([handover.proceed(0, true), done]).to.deep.equal([true, 1]);
  });

  it("tries while there is time, also when no member can take over yet", () => {
    const handover = new Handover(leadingCore(), 1_000, count);
    expect([handover.proceed(0, false), handover.proceed(999, false), done]).to.deep.equal([false, false, 0]);
    expect([handover.proceed(1_000, false), done]).to.deep.equal([true, 1]);
  });

  it("begins again when a transfer was given up, and is done as soon as another can take over", () => {
    const cluster = ReplicaCluster.ledBy(1);
    for (const id of [2, 3]) {
      cluster.network.hold(1, id, "log");
    }
    cluster.put(1, "k");
    cluster.advance(20);
    let isOver = false;
    cluster.replica(1).handOver(60_000, () => {
      isOver = true;
    });
    // No other member has the entry: each transfer is given up after its time.
    cluster.advance(2_500);
    expect([isOver, cluster.leader]).to.deep.equal([false, 1]);
    for (const id of [2, 3]) {
      cluster.network.release(1, id, "log");
    }
    cluster.until("it is handed over", () => isOver, 3_000);
    expect(cluster.leader).to.be.oneOf([2, 3]);
  });

  it("ends with the member that stops all the same", () => {
    const cluster = ReplicaCluster.ledBy(1);
    cluster.network.hold(1, 2, "log");
    cluster.network.hold(1, 3, "log");
    cluster.put(1, "k");
    cluster.replica(1).handOver(60_000, count);
    cluster.advance(20);
    expect(done).to.equal(0);
    cluster.kill(1);
    cluster.time.drain();
    expect(done).to.equal(1);
  });
});
