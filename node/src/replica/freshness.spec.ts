import { expect } from "chai";
import type { RaftCore, Role } from "../raft/index.ts";
import { CommitTimes } from "./commit-times.ts";
import { Freshness } from "./freshness.ts";
import { DEFAULT_REPLICA_LIMITS } from "./limits.ts";

describe("Freshness", () => {
  let core: { role: Role; leader: number; contactAgeTicks: number; isSettledLeader: boolean };
  let freshness: Freshness;

  beforeEach(() => {
    core = { role: "follower", leader: 3, contactAgeTicks: 0, isSettledLeader: false };
    // Only what is looked at.
    freshness = new Freshness(core as RaftCore, new CommitTimes(), DEFAULT_REPLICA_LIMITS.core, 50);
  });

  it("is not there at a follower before it has what was committed when it first heard of a leader", () => {
    expect(freshness.isFresh(100, 0), "nothing heard").to.equal(false);
    freshness.onLeaderCommit(100, 0);
    expect(freshness.isFresh(99, 100)).to.equal(false);
    freshness.onLeaderCommit(200, 150);
    expect(freshness.isFresh(100, 200), "what came later may be missing for a while").to.equal(true);
  });

  it("ends when applying lags behind what the leader has told for more than 5 s", () => {
    freshness.onLeaderCommit(100, 0);
    freshness.onLeaderCommit(200, 1_000);
    expect(freshness.isFresh(150, 6_000)).to.equal(true);
    expect(freshness.isFresh(150, 6_001)).to.equal(false);
    expect(freshness.isFresh(200, 60_000)).to.equal(true);
  });

  it("needs a leader that was heard within 5 s, and one that may answer reads", () => {
    freshness.onLeaderCommit(1, 0);
    core.contactAgeTicks = 100;
    expect(freshness.isFresh(1, 0)).to.equal(true);
    core.contactAgeTicks = 101;
    expect(freshness.isFresh(1, 0)).to.equal(false);
    core.contactAgeTicks = 0;
    core.leader = 0;
    expect(freshness.isFresh(1, 0)).to.equal(false);
    core.leader = 1;
    core.role = "leader";
    expect(freshness.isFresh(1, 0), "no entry of its term is committed").to.equal(false);
    core.isSettledLeader = true;
    expect(freshness.isFresh(1, 0)).to.equal(true);
    core.role = "candidate";
    expect(freshness.isFresh(1, 0)).to.equal(false);
  });

  it("names a leader only while it was heard lately: what is applied here may be of any age otherwise", () => {
    core.contactAgeTicks = 20;
    expect(freshness.leader).to.equal(3);
    core.contactAgeTicks = 21;
    expect(freshness.leader).to.equal(0);
  });
});
