import { expect } from "chai";
import type { RaftCore } from "../../raft/index.ts";
import { Checkpoints } from "../../state/index.ts";
import { describeDivergence } from "./divergence.ts";
import { StateComparison } from "./state-comparison.ts";

/** Digest of the own state at an index. */
const own = (index: number): number => index * 7;

describe("StateComparison", () => {
  /** The comparison of member 1 among these voters. It has a checkpoint at each tenth index up to 50. */
  function comparisonOf(voters: readonly number[], learners: readonly number[] = []) {
    const checkpoints = new Checkpoints(10);
    for (let index = 1; index <= 50; index++) {
      checkpoints.onApplied(index, own(index));
    }
    const configuration = { index: 9, voters, outgoing: [], learners, learnersNext: [], autoLeave: false };
    // Only the fields that are read: the rest of a core does not concern states.
    const core = { configuration } as unknown as RaftCore;
    const comparison = new StateComparison({ memberId: 1, core }, { checkpoints });
    return {
      comparison,
      checkpoints,
      same: (id: number, index: number) => comparison.onReport(id, { index, digest: own(index) }),
      other: (id: number, index: number) => comparison.onReport(id, { index, digest: own(index) + 1 }),
    };
  }

  it("P44: logs what most voters have, at the newest index at which they were heard to have it, and once", () => {
    const { comparison, same } = comparisonOf([1, 3, 4, 5, 6]);
    expect(comparison.next()).to.equal(null);
    same(3, 40);
    expect(comparison.next(), "two of five are no majority").to.equal(null);
    same(4, 20);
    expect(comparison.next()).to.deep.equal({ kind: "check-digest", index: 20, digest: own(20) });
    expect(comparison.next()).to.equal(null);
    same(4, 50);
    expect(comparison.next()).to.deep.equal({ kind: "check-digest", index: 40, digest: own(40) });
    expect([comparison.objection, comparison.alarms]).to.deep.equal([null, []]);
  });

  it("P44: logs it as well when one has another state, and says which", () => {
    const { comparison, same, other } = comparisonOf([1, 3, 4]);
    other(3, 30);
    expect(comparison.next(), "the third may have either").to.equal(null);
    expect(comparison.alarms).to.deep.equal(["member 3 had another state than this one at log index 30"]);
    same(4, 30);
    expect(comparison.next()).to.deep.equal({ kind: "check-digest", index: 30, digest: own(30) });
    expect(comparison.objection).to.equal(null);
  });

  it("P44: objects to the own state when most voters have another one, and logs nothing then", () => {
    const { comparison, other } = comparisonOf([1, 3, 4]);
    other(3, 30);
    expect(comparison.objection).to.equal(null);
    other(4, 20);
    expect(comparison.objection).to.equal("most voters, members 3, 4, have another state than this one");
  });

  it("counts a voter that was heard to differ and is not heard any more", () => {
    const { comparison, other } = comparisonOf([1, 3, 4]);
    other(3, 10);
    // Its report is about an index at which this member has no checkpoint.
    comparison.onReport(3, { index: 35, digest: 0 });
    comparison.onReport(3, null);
    other(4, 50);
    expect(comparison.objection).to.contain("members 3, 4");
  });

  it("compares reports about indexes that it has not reached yet once it reaches them", () => {
    const { comparison, checkpoints, same, other } = comparisonOf([1, 3, 4]);
    same(3, 70);
    // A later report does not replace the first one, or under load nothing would ever be compared.
    same(3, 90);
    other(4, 60);
    comparison.catchUp();
    expect([comparison.next(), comparison.alarms]).to.deep.equal([null, []]);
    for (let index = 51; index <= 70; index++) {
      checkpoints.onApplied(index, own(index));
    }
    comparison.catchUp();
    expect(comparison.alarms).to.deep.equal(["member 4 had another state than this one at log index 60"]);
    expect(comparison.next()).to.deep.equal({ kind: "check-digest", index: 70, digest: own(70) });
    same(3, 75);
    checkpoints.onApplied(80, own(80));
    same(3, 80);
    comparison.catchUp();
    expect(comparison.next(), "a report that matches no checkpoint is dropped").to.deep.include({ index: 80 });
    other(4, 90);
    same(4, 80);
    comparison.catchUp();
    expect(comparison.alarms, "it may have got another state since").to.deep.equal([]);
  });

  it("lets the own state count between two, or two and two, if there is no majority", () => {
    for (const voters of [
      [1, 3],
      [1, 3, 4, 5],
    ]) {
      const { comparison, same, other } = comparisonOf(voters);
      expect(comparison.next()).to.equal(null);
      other(3, 40);
      if (voters.length > 2) {
        other(4, 30);
        same(5, 50);
      }
      const index = voters.length > 2 ? 30 : 40;
      expect(comparison.next()).to.deep.equal({ kind: "check-digest", index, digest: own(index) });
      expect(comparison.objection).to.equal(null);
    }
  });

  it("counts only voters, and compares nothing if there is no other member", () => {
    expect(comparisonOf([1]).comparison.next()).to.equal(null);
    const { comparison, other } = comparisonOf([1], [3, 4]);
    other(3, 40);
    other(4, 40);
    expect(comparison.objection).to.equal(null);
    expect(comparison.next(), "learners find out by it").to.deep.include({ index: 50 });
  });

  it("forgets all reports when it does not lead any more", () => {
    const { comparison, same, other } = comparisonOf([1, 3, 4]);
    same(3, 30);
    expect(comparison.next()).to.not.equal(null);
    other(4, 30);
    comparison.clear();
    expect([comparison.next(), comparison.alarms]).to.deep.equal([null, []]);
    same(3, 30);
    expect(comparison.next()).to.deep.include({ index: 30 });
  });

  it("says what differs", () => {
    expect(describeDivergence({ index: 1_000, digest: 1, clusterDigest: 0xffff_ffff })).to.equal(
      "at log index 1000 the state of this member had the digest 00000001, and that of the cluster ffffffff",
    );
  });
});
