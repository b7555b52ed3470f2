import { expect } from "chai";
import { ReplicaCluster, resultOf } from "../../../test/harness/index.ts";
import { listenToMarks } from "../../primitives/index.ts";
import { readCluster } from "../../state/index.ts";

describe("changes of the membership of three replicas", () => {
  let marks: string[];
  beforeEach(() => {
    marks = [];
    listenToMarks((mark) => marks.push(mark));
  });
  afterEach(() => listenToMarks(null));

  const NOTHING = { promote: [], demote: [], remove: [] };

  it("are answered where they are asked, once applied and once no joint configuration is left", () => {
    const cluster = ReplicaCluster.ledBy(1);
    const call = cluster.change(2, { kind: "reconfigure", ...NOTHING, demote: [2, 3] });
    const joint: boolean[] = [];
    while (call.answered === 0) {
      cluster.time.turn();
      joint.push((readCluster(cluster.replica(2).state)?.configuration.outgoing.length ?? 0) > 0);
    }
    expect(joint).to.include(true);
    expect(joint.at(-1), "when it is answered").to.equal(false);
    expect(resultOf(call)).to.equal("done");
    expect(readCluster(cluster.replica(2).state)?.configuration).to.include({ autoLeave: false });
    expect(readCluster(cluster.replica(2).state)?.configuration.voters).to.deep.equal([1]);
    expect(cluster.replica(2).status()).to.include({ isLearner: true, isServing: false });
    expect(cluster.replica(2).report.readiness()).to.include({ voter: "this member has no vote", disk: null });
    expect(cluster.resultAfter(cluster.put(2, "k")), "a learner forwards too").to.equal("done");
  });

  it("at a follower are refused with the leader's reason", () => {
    const cluster = ReplicaCluster.ledBy(1);
    for (const [operation, reason] of [
      [{ ...NOTHING, remove: [1] }, "IS_LEADER"],
      [{ ...NOTHING, promote: [99] }, "MEMBER_NOT_FOUND"],
      [{ ...NOTHING, remove: [1, 2, 3] }, "LAST_VOTER"],
    ] as const) {
      const call = cluster.change(3, { kind: "reconfigure", ...operation });
      expect(cluster.resultAfter(call)).to.equal(`${reason} not-executed`);
    }
  });

  it("P21: an unclaimed slot is not promoted", () => {
    const cluster = ReplicaCluster.ledBy(1);
    const added = cluster.change(2, { kind: "add-slot", name: "member-4" });
    expect(cluster.resultAfter(added)).to.equal("done");
    const { answer } = added.outcome ?? {};
    const id = answer !== undefined && "memberId" in answer ? answer.memberId : 0;
    expect(id).to.be.greaterThan(3);
    const call = cluster.change(2, { kind: "reconfigure", ...NOTHING, promote: [id] });
    expect(cluster.resultAfter(call)).to.equal("LEARNER_NOT_READY not-executed");
  });

  it("P18: are answered when no power cut of the others makes them need again whom they have removed", () => {
    const cluster = ReplicaCluster.ledBy(1);
    expect(cluster.resultAfter(cluster.change(1, { kind: "reconfigure", ...NOTHING, remove: [3] }))).to.equal("done");
    const call = cluster.change(1, { kind: "reconfigure", ...NOTHING, remove: [2] });
    expect(cluster.resultAfter(call)).to.equal("done");
    cluster.kill(2);
    cluster.kill(1);
    cluster.start(1);
    expect(cluster.resultAfter(cluster.put(1, "k")), "it is the only one now").to.equal("done");
  });

  it("P18: are not answered while a majority has them committed and could forget it", () => {
    const cluster = ReplicaCluster.ledBy(1);
    const { configuration: before } = readCluster(cluster.replica(1).state) ?? {};
    const call = cluster.change(1, { kind: "reconfigure", ...NOTHING, remove: [3] });
    while (readCluster(cluster.replica(1).state)?.configuration.voters.length !== 2) {
      cluster.time.turn();
    }
    const { log } = cluster.node(2);
    log.isHeld = true;
    cluster.advance(500);
    expect([resultOf(call), cluster.replica(1).quorumKnownConfigIndex]).to.deep.equal(["open", before?.index]);
    log.isHeld = false;
    log.flush();
    expect(cluster.resultAfter(call)).to.equal("done");
    const { configuration } = readCluster(cluster.replica(1).state) ?? {};
    expect(cluster.replica(1).quorumKnownConfigIndex).to.equal(configuration?.index);
    cluster.until("the other one knows too", () => {
      return cluster.replica(2).quorumKnownConfigIndex === configuration?.index;
    });
  });

  it("P18: are answered by a member that has removed itself, as soon as it learns that", () => {
    const cluster = ReplicaCluster.ledBy(1);
    const call = cluster.change(3, { kind: "reconfigure", ...NOTHING, remove: [3] });
    cluster.until("it is applied", () => readCluster(cluster.replica(3).state)?.configuration.voters.length === 2);
    cluster.advance(500);
    expect(resultOf(call), "no other member sends it anything any more").to.equal("open");
    cluster.replica(3).onRemoved();
    expect(cluster.resultAfter(call)).to.equal("done");
  });

  it("P19: a removed member disturbs no other member, and its calls say that they are not executed", () => {
    const cluster = ReplicaCluster.ledBy(1);
    const call = cluster.change(1, { kind: "reconfigure", ...NOTHING, remove: [3] });
    expect(cluster.resultAfter(call)).to.equal("done");
    const { term } = cluster.replica(1).status();
    cluster.advance(10_000);
    expect(cluster.replica(1).status()).to.include({ role: "leader", term });
    // Connections of members that are not listed end.
    cluster.network.isolate(3);
    expect(cluster.replica(3).status().isServing).to.equal(false);
    expect(cluster.resultAfter(cluster.put(3, "k"))).to.match(/not-executed$/);
    expect(cluster.resultAfter(cluster.put(2, "k"))).to.equal("done");
  });

  it("P22: a joint configuration is left though its leader is gone, and the call answered once", () => {
    const cluster = ReplicaCluster.ledBy(1);
    cluster.change(1, { kind: "add-slot", name: "member-4" });
    cluster.advance(100);
    cluster.network.hold(1, 2, "log");
    const call = cluster.change(2, { kind: "reconfigure", ...NOTHING, demote: [2, 3] });
    while (!marks.includes("raft.leave")) {
      cluster.time.turn();
    }
    cluster.kill(1);
    cluster.advance(3_000);
    expect(resultOf(call)).to.equal("open");
    cluster.start(1);
    expect(cluster.resultAfter(call)).to.equal("done");
    expect(cluster.attempts(2, 1)).to.have.length(1);
    expect(readCluster(cluster.replica(2).state)?.configuration.outgoing).to.deep.equal([]);
  });

  it("S12: are not said to be done at the deadline while both majorities are needed", () => {
    const cluster = ReplicaCluster.ledBy(1);
    const call = cluster.change(2, { kind: "reconfigure", ...NOTHING, demote: [2, 3] });
    const isJoint = () => (readCluster(cluster.replica(2).state)?.configuration.outgoing.length ?? 0) > 0;
    while (!isJoint()) {
      cluster.time.turn();
    }
    cluster.kill(1);
    cluster.advance(31_000);
    expect(resultOf(call)).to.equal("DEADLINE unknown");
    expect(isJoint()).to.equal(true);
  });

  it("reports on every member the health of the others, as the leader knows it", () => {
    const cluster = ReplicaCluster.ledBy(1);
    cluster.kill(3);
    cluster.advance(2_000);
    for (const id of [1, 2]) {
      const call = cluster.view(id);
      cluster.until("an answer", () => call.view !== null || call.error !== null);
      expect(call.view).to.include({ leaderId: 1, term: cluster.replica(1).status().term, changing: false });
      const age = new Map(call.view?.health.map((one) => [one.id, one.contactAgeMs]));
      expect([...age.keys()]).to.deep.equal([1, 2, 3]);
      expect([age.get(1), age.get(2)].every((ms) => (ms ?? 1e9) <= 200)).to.equal(true);
      expect(age.get(3)).to.be.within(1_900, 2_500);
    }
  });

  it("P8: a leader that is cut off reports to no caller how the members are", () => {
    const cluster = ReplicaCluster.ledBy(1);
    cluster.network.isolate(1);
    const call = cluster.view(1, 2_000);
    cluster.advance(1_000);
    expect([call.view, call.error]).to.deep.equal([null, null]);
    cluster.advance(1_100);
    expect(call.view).to.equal(null);
    expect(call.error?.outcome).to.equal("not-executed");
  });
});
