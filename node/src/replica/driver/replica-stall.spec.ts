import { expect } from "chai";
import { ReplicaCluster } from "../../../test/harness/index.ts";
import { listenToMarks } from "../../primitives/index.ts";
import { DEFAULT_REPLICA_LIMITS } from "../index.ts";

describe("a follower that stalls", () => {
  afterEach(() => listenToMarks(null));

  it("P55: looks at what its leader has sent before the time passes that it has missed", () => {
    const core = { ...DEFAULT_REPLICA_LIMITS.core, electionTicksMin: 20, electionTicksMax: 22 };
    const cluster = ReplicaCluster.ledBy(1, { core });
    const { term } = cluster.replica(2).status();
    for (const kind of ["control", "log"] as const) {
      cluster.network.hold(1, 2, kind);
    }
    // Its own timeout has not passed yet; with all ticks of the stall it would have passed long ago.
    cluster.advance(800);
    for (const kind of ["control", "log"] as const) {
      cluster.network.release(1, 2, kind);
    }
    const marks: string[] = [];
    listenToMarks((mark) => marks.push(mark));
    cluster.time.stall(850);
    cluster.time.drain();
    expect(marks).not.to.include("raft.pre-campaign");
    expect(cluster.replica(2).status()).to.include({ role: "follower", leaderId: 1, term });
  });
});
