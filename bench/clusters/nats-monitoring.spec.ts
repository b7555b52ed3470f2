import { expect } from "chai";
import { leadershipOf, raftGroupsOf, serverOf, streamsOf } from "./nats-monitoring.ts";

describe("the figures of a NATS server", () => {
  const meta = { name: "bench", leader: "n-0", cluster_size: 3, quorum_needed: 2 };
  const varz = (config: object, others: object) => ({
    server_id: "NAAA",
    version: "2.15.2",
    jetstream: { config: { max_memory: 1, sync_interval: 120_000_000_000, ...config }, stats: {}, ...others },
  });

  it("say whether it syncs every write, and how many members follow it", () => {
    const replicas = [
      { name: "n-1", current: true, active: 1_000, peer: "a" },
      { name: "n-2", current: false, active: 0, peer: "b" },
      { name: "n-3", current: true, offline: true, active: 0, peer: "c" },
    ];
    expect(serverOf(varz({ sync_always: true }, { meta: { ...meta, replicas } }))).to.deep.equal({
      version: "2.15.2",
      isSynced: true,
      clusterSize: 3,
      followers: 1,
    });
    expect(serverOf(varz({}, { meta }))).to.deep.equal({
      version: "2.15.2",
      isSynced: false,
      clusterSize: 3,
      followers: 0,
    });
  });

  it("are those of a server without a cluster, or without JetStream", () => {
    expect(serverOf(varz({ sync_always: true }, {}))).to.deep.include({ isSynced: true, clusterSize: 0 });
    expect(serverOf({ version: "2.15.2", jetstream: {} })).to.deep.include({ isSynced: false, clusterSize: 0 });
  });

  it("have the streams with their replicas, storage and persistence", () => {
    const stream = (name: string, config: object) => ({ name, created: "", state: {}, config: { name, ...config } });
    const details = [
      stream("a", { num_replicas: 3, storage: "file" }),
      stream("b", { num_replicas: 1, storage: "memory", persist_mode: "async" }),
    ];
    const accounts = [
      { name: "$G", id: "$G" },
      { name: "$G", id: "$G", stream_detail: details },
    ];
    expect(streamsOf({ streams: 2, account_details: accounts })).to.deep.equal([
      { name: "a", replicas: 3, isInFiles: true, isAsynchronous: false },
      { name: "b", replicas: 1, isInFiles: false, isAsynchronous: true },
    ]);
    expect(streamsOf({ streams: 0 })).to.deep.equal([]);
  });

  it("have the Raft groups", () => {
    const groups = {
      _meta_: { state: "LEADER", term: 4, size: 3 },
      "S-R3F-x": { state: "FOLLOWER", term: 2, size: 3 },
    };
    expect(raftGroupsOf({ $SYS: groups })).to.deep.equal([
      { name: "_meta_", isLeader: true, term: 4 },
      { name: "S-R3F-x", isLeader: false, term: 2 },
    ]);
    expect(raftGroupsOf({})).to.deep.equal([]);
  });
});

describe("the leadership of a NATS cluster", () => {
  const group = (name: string, isLeader: boolean, term: number) => ({ name, isLeader, term });
  const meta = [group("_meta_", false, 3), group("_meta_", true, 3), group("_meta_", false, 2)] as const;

  it("is that of the group that places streams, at the sum of all terms", () => {
    const streams = [group("s", true, 5), group("s", false, 5), group("s", false, 4)] as const;
    expect(leadershipOf(meta.map((each) => [each]))).to.deep.equal({ at: 1, term: 3 });
    expect(leadershipOf(meta.map((each, at) => [each, streams[at] as (typeof streams)[0]]))).to.deep.equal({
      at: 1,
      term: 8,
    });
  });

  it("is not known while a group has no leader, or two", () => {
    expect(leadershipOf([[], [], []])).to.equal(null);
    expect(leadershipOf(meta.map((each) => [{ ...each, isLeader: false }]))).to.equal(null);
    expect(leadershipOf(meta.map((each) => [{ ...each, isLeader: true }]))).to.equal(null);
    expect(leadershipOf(meta.map((each) => [each, group("s", false, 1)]))).to.equal(null);
  });
});
