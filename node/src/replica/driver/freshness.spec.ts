import { expect } from "chai";
import type { RaftCore, Role } from "../../raft/index.ts";
import { CommitTimes } from "../context/index.ts";
import { DEFAULT_REPLICA_LIMITS } from "../index.ts";
import { Freshness } from "./freshness.ts";

/** A member serves only while it can answer linearizable reads (S35). */
describe("Freshness", () => {
  let core: { role: Role; leader: number; contactAgeTicks: number; hasCommittedInTerm: boolean };
  let freshness: Freshness;

  beforeEach(() => {
    core = { role: "follower", leader: 3, contactAgeTicks: 0, hasCommittedInTerm: false };
    freshness = new Freshness({
      // Only the fields that are read.
      core: core as RaftCore,
      coreTickMs: 50,
      commitTimes: new CommitTimes(),
      limits: DEFAULT_REPLICA_LIMITS,
    });
  });

  /** Whether a voter that has applied up to the index can answer clients. */
  function isFresh(appliedIndex: number, nowMs: number): boolean {
    return freshness.noLeaderReason() === null && freshness.lagReason(appliedIndex, nowMs) === null;
  }

  it("is not there at a follower before it has what was committed when it first heard of a leader", () => {
    expect(isFresh(100, 0), "nothing heard").to.equal(false);
    freshness.onLeaderCommit(100, 0);
    expect(isFresh(99, 100)).to.equal(false);
    freshness.onLeaderCommit(200, 150);
    expect(isFresh(100, 200), "what came later may be missing for a while").to.equal(true);
  });

  it("ends when applying lags more than 5 s behind the commit index that the leader has sent", () => {
    freshness.onLeaderCommit(100, 0);
    freshness.onLeaderCommit(200, 1_000);
    expect(isFresh(150, 6_000)).to.equal(true);
    expect(isFresh(150, 6_001)).to.equal(false);
    expect(isFresh(200, 60_000)).to.equal(true);
  });

  it("needs a leader that was heard within 5 s, and one that may answer reads", () => {
    freshness.onLeaderCommit(1, 0);
    core.contactAgeTicks = 100;
    expect(isFresh(1, 0)).to.equal(true);
    core.contactAgeTicks = 101;
    expect(isFresh(1, 0)).to.equal(false);
    core.contactAgeTicks = 0;
    core.leader = 0;
    expect(isFresh(1, 0)).to.equal(false);
    core.leader = 1;
    core.role = "leader";
    expect(isFresh(1, 0), "no entry of its term is committed").to.equal(false);
    core.hasCommittedInTerm = true;
    expect(isFresh(1, 0)).to.equal(true);
    core.role = "candidate";
    expect(isFresh(1, 0)).to.equal(false);
  });

  it("says what is missing", () => {
    expect(freshness.lagReason(100, 0)).to.include("first heard a leader");
    freshness.onLeaderCommit(100, 0);
    freshness.onLeaderCommit(200, 1_000);
    expect([freshness.noLeaderReason(), freshness.lagReason(100, 1_000)]).to.deep.equal([null, null]);
    expect(freshness.lagReason(100, 7_500)).to.include("6500 ms behind");
    core.contactAgeTicks = 120;
    expect(freshness.noLeaderReason()).to.include("the leader was heard 6000 ms ago");
    Object.assign(core, { role: "leader", hasCommittedInTerm: true });
    expect(freshness.noLeaderReason()).to.include("a majority was heard 6000 ms ago");
    Object.assign(core, { contactAgeTicks: 0, hasCommittedInTerm: false });
    expect(freshness.noLeaderReason()).to.include("has not committed an entry of its term");
    core.leader = 0;
    expect(freshness.noLeaderReason()).to.equal("no leader is known");
  });

  it("names a leader only while it was heard lately: what is applied here may be of any age otherwise", () => {
    core.contactAgeTicks = 20;
    expect(freshness.leader).to.equal(3);
    core.contactAgeTicks = 21;
    expect(freshness.leader).to.equal(0);
  });
});
