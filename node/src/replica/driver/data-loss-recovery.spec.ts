import { crc32 } from "node:zlib";
import { expect } from "chai";
import { drainCore, followingCore, ReplicaCluster, resultOf, ScriptedLeader } from "../../../test/harness/index.ts";
import { listenToMarks } from "../../primitives/index.ts";
import { EntryType, encodeEntry, NO_ENVELOPE, sealEntry } from "../../raft/index.ts";
import { DataLossRecovery } from "./data-loss-recovery.ts";

const DAMAGED = "acknowledged data was lost: this member follows without a vote until it has it again";

describe("a member that has lost acknowledged data", () => {
  let marks: string[];
  beforeEach(() => {
    marks = [];
    listenToMarks((mark) => marks.push(mark));
  });
  afterEach(() => listenToMarks(null));

  /** Member 2 has lost its log and state, knows so, and is about to start; the others have this in their log. */
  function beforeStart(): ReplicaCluster {
    const cluster = ReplicaCluster.ledBy(1);
    expect(cluster.resultAfter(cluster.put(1, "k"))).to.equal("done");
    cluster.kill(2);
    cluster.loseData(2);
    return cluster;
  }

  const isHealed = (cluster: ReplicaCluster): boolean => cluster.node(2).log.isHealed;

  it("P46: heals when it has, durably and as committed, all that the leader had committed when it was asked", () => {
    const cluster = beforeStart();
    cluster.start(2, { damaged: true });
    expect(cluster.replica(2).status()).to.deep.include({ alarms: [DAMAGED], isServing: false });
    expect(cluster.replica(2).report.readiness().disk).to.equal(DAMAGED);
    cluster.until("it is healed", () => cluster.node(2).callbacks.includes("healed"));
    expect(cluster.stored(2, "k")).to.equal("v");
    expect(isHealed(cluster)).to.equal(true);
    expect(cluster.replica(2).status().alarms).to.deep.equal([]);
    expect(marks.filter((mark) => mark === "replica.healing.asked")).to.have.length(1);
    cluster.advance(100);
    expect(cluster.replica(2).status().isServing).to.equal(true);
  });

  it("P46: gets its vote back: afterwards it may be the one that elects, or lead", () => {
    const cluster = beforeStart();
    cluster.start(2, { damaged: true });
    cluster.until("it is healed", () => isHealed(cluster));
    cluster.advance(200);
    cluster.kill(3);
    cluster.leadBy(2);
    expect(cluster.resultAfter(cluster.put(2, "more"))).to.equal("done");
  });

  it("P46: does not vote before: with it alone no member is elected", () => {
    const cluster = beforeStart();
    cluster.kill(3);
    cluster.start(2, { damaged: true });
    cluster.kill(1);
    cluster.start(3);
    cluster.advance(20_000);
    expect(cluster.leader).to.equal(0);
    expect(isHealed(cluster)).to.equal(false);
    cluster.start(1);
    cluster.until("it is healed", () => isHealed(cluster));
    expect(cluster.stored(2, "k")).to.equal("v");
  });

  it("P46: does not count as healed before the writes that it needs are durable", () => {
    const cluster = beforeStart();
    cluster.node(2).log.isHeld = true;
    cluster.start(2, { damaged: true });
    cluster.node(2).log.isHeld = true;
    cluster.advance(900);
    expect(marks).to.include("replica.healing.asked");
    expect(isHealed(cluster)).to.equal(false);
    cluster.node(2).log.isHeld = false;
    cluster.node(2).log.flush();
    cluster.until("it is healed", () => isHealed(cluster));
  });

  it("P46: what it had said before its start counts for nothing at the leader", () => {
    const cluster = beforeStart();
    cluster.node(2).log.isHeld = true;
    cluster.start(2, { damaged: true });
    cluster.node(2).log.isHeld = true;
    cluster.advance(100);
    cluster.kill(3);
    const call = cluster.put(1, "needs two", { deadlineMs: 600 });
    cluster.advance(700);
    expect(resultOf(call), "it has not acknowledged anything again").to.equal("DEADLINE unknown");
  });

  it("asks only the leader that it follows, and again when that leader is gone", () => {
    const cluster = beforeStart();
    cluster.start(2, { damaged: true });
    cluster.network.cut(1, 2);
    cluster.network.cut(2, 3);
    cluster.advance(3_000);
    expect(marks).to.not.include("replica.healing.asked");
    cluster.network.connect(1, 2);
    cluster.network.hold(2, 1, "control");
    cluster.until("it has asked", () => marks.includes("replica.healing.asked"));
    cluster.kill(1);
    cluster.start(1);
    cluster.network.connect(2, 3);
    cluster.until("it is healed", () => isHealed(cluster));
    expect(marks.filter((mark) => mark === "replica.healing.asked").length).to.be.greaterThan(1);
  });

  it("asks again when the term ends in the very turn in which its question is answered", () => {
    const cluster = beforeStart();
    cluster.kill(1);
    cluster.kill(3);
    cluster.start(2, { damaged: true });
    const member = cluster.replica(2);
    const first = new ScriptedLeader(cluster.time, member, 2, 1, member.status().term + 1);
    first.heartbeat();
    cluster.time.drain();
    expect(marks.filter((mark) => mark === "replica.healing.asked")).to.have.length(1);
    const { id: from, term } = first;
    first.sendFrame({ type: "read-reply", from, to: 2, term, boot: cluster.boot(2), position: 1, index: 9 });
    new ScriptedLeader(cluster.time, member, 2, 3, term + 1).heartbeat();
    cluster.time.drain();
    cluster.advance(100);
    expect(marks.filter((mark) => mark === "replica.healing.asked")).to.have.length(2);
  });

  it("P46: needs what was committed when it asked both as committed and as durable", () => {
    for (const isCommittedFirst of [true, false]) {
      const core = followingCore();
      const healing = new DataLossRecovery(core);
      expect(healing.proceed()).to.equal(false);
      core.step({ type: "read-reply", from: 1, to: 2, term: 5, boot: 1, position: 1, index: 1 });
      const { reads } = core.drain(true);
      healing.onReads(reads?.position ?? 0, reads?.index ?? 0);
      expect(healing.proceed(), "it has nothing").to.equal(false);
      const row = encodeEntry(EntryType.Empty, NO_ENVELOPE, new Uint8Array(0));
      sealEntry(row, 5, 1, crc32);
      const commit = isCommittedFirst ? 1 : 0;
      core.step({
        type: "append",
        from: 1,
        to: 2,
        term: 5,
        prevIndex: 0,
        prevTerm: 0,
        commit,
        wantsReply: true,
        rows: [row],
      });
      expect([core.commitIndex, core.stableIndex, healing.proceed()]).to.deep.equal([commit, 0, false]);
      drainCore(core);
      expect([core.stableIndex, healing.proceed()]).to.deep.equal([1, isCommittedFirst]);
      core.step({ type: "heartbeat", from: 1, to: 2, term: 5, commit: 1, readPosition: 0 });
      expect(healing.proceed()).to.equal(true);
    }
  });

  it("P57: learns of no loss from heartbeats that commit more than it has: it knows", () => {
    const cluster = beforeStart();
    cluster.start(2, { damaged: true });
    new ScriptedLeader(cluster.time, cluster.replica(2), 2, 1, cluster.replica(1).status().term).heartbeat(50);
    cluster.advance(20);
    expect(cluster.node(2).callbacks).to.not.include("loss");
  });

  it("one that does not know of its loss learns of it from a heartbeat, and must not continue", () => {
    const cluster = ReplicaCluster.ledBy(1);
    const { term, lastIndex } = cluster.replica(2).status();
    new ScriptedLeader(cluster.time, cluster.replica(2), 2, 1, term).heartbeat(lastIndex + 10);
    cluster.advance(20);
    expect(cluster.node(2).callbacks).to.include("loss");
  });
});
