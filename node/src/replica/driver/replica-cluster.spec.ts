import { expect } from "chai";
import { type DrivenCall, ReplicaCluster, resultOf } from "../../../test/harness/index.ts";
import { decodeForward, decodeForwardRefused, FrameType } from "../../peers/index.ts";
import { listenToMarks } from "../../primitives/index.ts";
import { DEFAULT_REPLICA_LIMITS } from "../index.ts";

const ALL = [1, 2, 3];

/** The value of the key at every member. */
function values(cluster: ReplicaCluster, key: string): (string | null)[] {
  return ALL.map((id) => cluster.stored(id, key));
}

describe("three replicas", () => {
  let marks: string[];
  beforeEach(() => {
    marks = [];
    listenToMarks((mark) => marks.push(mark));
  });
  afterEach(() => listenToMarks(null));

  describe("forwarding", () => {
    it("S36: a follower hands a call on once and answers it when it has applied it itself", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.network.hold(1, 2, "log");
      const call = cluster.put(2, "k");
      cluster.advance(50);
      expect(cluster.stored(1, "k")).to.equal("v");
      expect(resultOf(call)).to.equal("open");
      cluster.network.release(1, 2, "log");
      expect(cluster.resultAfter(call)).to.equal("done");
      expect(cluster.stored(2, "k"), "read in the turn of the answer").to.equal("v");
      cluster.advance(200);
      expect(values(cluster, "k")).to.deep.equal(["v", "v", "v"]);
      expect(cluster.network.typesSent(2, 1).filter((type) => type === FrameType.Forward)).to.have.length(1);
      expect(cluster.attempts(2, 1)).to.have.length(1);
    });

    it("P56: an attempt that is applied together with the next term's first entry is not made again", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.network.hold(1, 2, "log");
      cluster.network.hold(3, 1, "log");
      const call = cluster.put(2, "k");
      cluster.until("member 3 has the entry", () => cluster.attempts(2, 3).length === 1);
      cluster.kill(1);
      expect(cluster.resultAfter(call)).to.equal("done");
      cluster.advance(500);
      for (const id of [2, 3]) {
        expect(cluster.attempts(2, id), `the log of ${id}`).to.have.length(1);
      }
    });

    it("S36: a refusal that is lost with its connection is said again when there is another", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.replica(1).setDiskSpace("low");
      cluster.network.hold(1, 2, "log");
      const call = cluster.put(2, "k");
      cluster.advance(100);
      cluster.network.cut(1, 2);
      cluster.advance(20);
      expect(resultOf(call), "it was not heard").to.equal("open");
      cluster.network.connect(1, 2);
      cluster.advance(100);
      expect(resultOf(call)).to.equal("STORAGE_FULL not-executed");
    });

    it("S36: REFUSED by a member that does not lead that term any more leads to a new attempt at the new leader", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.network.hold(2, 1, "log");
      const call = cluster.put(2, "k");
      cluster.advance(20);
      cluster.network.hold(3, 2, "log");
      const transfer = cluster.transfer(1, 3);
      cluster.until("member 2 follows the next leader", () => cluster.replica(2).status().leaderId === 3);
      cluster.advance(300);
      expect(transfer.leader?.id).to.equal(3);
      expect(resultOf(call), "it may still be appended, as far as member 2 knows").to.equal("open");
      expect(cluster.attempts(2, 3)).to.have.length(0);
      cluster.network.release(2, 1, "log");
      cluster.until("another attempt", () => cluster.attempts(2, 3).length > 0);
      cluster.network.release(3, 2, "log");
      expect(cluster.resultAfter(call)).to.equal("done");
      const refusals = cluster.network.frames.filter(({ frame }) => frame.type === FrameType.Refused);
      expect(refusals.map(({ frame }) => decodeForwardRefused(frame.body).reason)).to.deep.equal(["not-leader"]);
      cluster.advance(200);
      const [attempt, ...others] = cluster.attempts(2, 3);
      expect(others).to.deep.equal([]);
      expect(attempt?.seq, "the first number is not used again").to.be.greaterThan(1);
    });

    it("P52, P56: the leader is lost with an attempt: its caller waits for proof, then a new one is made", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.network.hold(1, 2, "log");
      cluster.network.hold(1, 3, "log");
      const call = cluster.put(2, "k");
      cluster.until("the leader has appended it", () => cluster.attempts(2, 1).length === 1);
      cluster.kill(1);
      cluster.advance(300);
      expect(resultOf(call), "a lost connection proves nothing").to.equal("open");
      expect(cluster.replica(2).status().role).to.equal("follower");
      expect(cluster.resultAfter(call)).to.equal("done");
      expect(marks).to.include("replica.attempt.refuted");
      cluster.start(1);
      cluster.advance(2_000);
      expect(values(cluster, "k")).to.deep.equal(["v", "v", "v"]);
      for (const id of ALL) {
        expect(cluster.attempts(2, id), `the log of ${id}`).to.have.length(1);
      }
    });

    it("P52: a deposed leader fails nothing: what it had appended is refuted, forwarded and executed once", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.network.isolate(1);
      const call = cluster.put(1, "k");
      cluster.until("another leader", () => cluster.leader !== 1);
      cluster.until("it has stepped down", () => cluster.replica(1).status().role !== "leader");
      expect(resultOf(call)).to.equal("open");
      cluster.network.rejoin(1);
      expect(cluster.resultAfter(call)).to.equal("done");
      cluster.advance(500);
      expect(values(cluster, "k")).to.deep.equal(["v", "v", "v"]);
      for (const id of ALL) {
        expect(cluster.attempts(1, id), `the log of ${id}`).to.have.length(1);
      }
    });

    it("P56: what was committed by a lost leader is answered once, with the result of its own entry", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.network.hold(1, 2, "log");
      const call = cluster.put(2, "k", { value: "mine" });
      cluster.until("the leader has applied it", () => cluster.stored(1, "k") === "mine");
      cluster.kill(1);
      const other = cluster.put(3, "k", { value: "later" });
      expect(cluster.resultAfter(call)).to.equal("done");
      expect(cluster.resultAfter(other)).to.equal("done");
      const [mine, later] = [call, other].map(({ outcome }) => outcome?.answer);
      expect(mine).to.include({ kind: "put-key", created: true });
      expect(later).to.include({ kind: "put-key", created: false });
    });

    it("frames that certainly never left count as refused, and their calls are retried elsewhere", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.network.clog(2, 1, "log");
      const call = cluster.put(2, "k");
      cluster.advance(20);
      cluster.network.cutLink(2, 1, "log");
      expect(marks).to.include("replica.forward.unsent");
      cluster.network.connect(1, 2);
      expect(cluster.resultAfter(call)).to.equal("done");
      expect(cluster.attempts(2, 1)).to.have.length(1);
    });

    it("S36, P56: a retry of the client under the same request id meets the stored answer", () => {
      const cluster = ReplicaCluster.ledBy(1);
      const request = { requestId: new Uint8Array(16).fill(7), payloadHash: new Uint8Array(32).fill(7) };
      const first = cluster.put(2, "k", { request });
      expect(cluster.resultAfter(first)).to.equal("done");
      const again = cluster.put(3, "k", { request });
      expect(cluster.resultAfter(again)).to.equal("done");
      expect(again.outcome?.replayed).to.equal("yes");
      expect(again.outcome?.answer).to.deep.equal(first.outcome?.answer);
    });

    it("S36: without a leader a follower holds a call for 3 s, or to the last tenth of its deadline", () => {
      for (const [deadlineMs, heldMs] of [
        [30_000, 3_000],
        [1_000, 900],
        [300, 250],
      ] as const) {
        const cluster = ReplicaCluster.ledBy(1);
        cluster.network.isolate(2);
        cluster.until("it has given its leader up", () => cluster.replica(2).status().leaderId === 0);
        const [call, read] = [cluster.put(2, "k", { deadlineMs }), cluster.read(2, "k", { deadlineMs })];
        const view = cluster.view(2, deadlineMs);
        cluster.advance(heldMs - 110);
        expect([resultOf(call), resultOf(read), view.error], `${deadlineMs} ms`).to.deep.equal(["open", "open", null]);
        cluster.advance(110);
        expect([resultOf(call), resultOf(read)], `${deadlineMs} ms`).to.deep.equal([
          "NO_LEADER not-executed",
          "NO_LEADER not-executed",
        ]);
        expect(`${view.error?.reason} ${view.error?.outcome}`).to.equal("NO_LEADER not-executed");
      }
    });

    it("S12: says unknown at the deadline of what it has handed out", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.network.hold(2, 1, "log");
      const call = cluster.put(2, "k", { deadlineMs: 500 });
      cluster.advance(600);
      expect(resultOf(call)).to.equal("DEADLINE unknown");
      cluster.network.release(2, 1, "log");
      cluster.advance(200);
      expect(cluster.stored(1, "k"), "and it may well be executed afterwards").to.equal("v");
    });

    it("P52: a follower that stops says unknown of what it has handed out and not-executed of what it holds", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.network.hold(2, 1, "log");
      const out = cluster.put(2, "a");
      cluster.advance(20);
      cluster.network.cutLink(2, 1, "log");
      const held = cluster.put(2, "b");
      cluster.advance(20);
      cluster.kill(2);
      expect([out, held].map(resultOf)).to.deep.equal(["SHUTTING_DOWN unknown", "SHUTTING_DOWN not-executed"]);
    });

    it("a leader that has too much to commit refuses, and the follower holds the call and tries again", () => {
      const core = { ...DEFAULT_REPLICA_LIMITS.core, uncommittedBytesMax: 1 };
      const cluster = ReplicaCluster.ledBy(1, { core });
      for (const id of [1, 2, 3]) {
        cluster.node(id).log.isHeld = true;
      }
      const first = cluster.put(1, "a");
      cluster.advance(20);
      const second = cluster.put(2, "b");
      cluster.advance(100);
      const refusals = cluster.network.frames.filter(({ frame }) => frame.type === FrameType.Refused);
      expect(refusals.map(({ frame }) => decodeForwardRefused(frame.body).reason)).to.include("overloaded");
      expect([first, second].map(resultOf)).to.deep.equal(["open", "open"]);
      for (const id of [1, 2, 3]) {
        cluster.node(id).log.isHeld = false;
        cluster.node(id).log.flush();
      }
      expect(cluster.resultAfter(first)).to.equal("done");
      expect(cluster.resultAfter(second)).to.equal("done");
      expect(cluster.attempts(2, 1)).to.have.length(1);
    });

    it("S36: calls of one turn travel in one frame, in the order in which they came", () => {
      const cluster = ReplicaCluster.ledBy(1);
      const calls = Array.from({ length: 50 }, (_, at) => cluster.put(2, "k", { value: `${at}` }));
      cluster.until("all answers", () => calls.every(({ answered }) => answered > 0));
      const forwards = cluster.network.frames.filter(({ frame }) => frame.type === FrameType.Forward);
      expect(forwards.map(({ frame }) => decodeForward(frame.body).attempts.length)).to.deep.equal([50]);
      expect(calls.map(({ answered }) => answered)).to.deep.equal(calls.map((_, at) => at + 1));
      expect(cluster.stored(2, "k")).to.equal("49");
    });
  });

  describe("reads", () => {
    it("P11: a follower reads what was acknowledged anywhere before, when it has applied it", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.network.hold(1, 2, "log");
      expect(cluster.resultAfter(cluster.put(1, "k"))).to.equal("done");
      const read = cluster.read(2, "k");
      cluster.advance(100);
      expect(marks).to.not.include("raft.read.unanswered");
      expect(resultOf(read), "confirmed, but not applied").to.equal("open");
      cluster.network.release(1, 2, "log");
      expect(cluster.resultAfter(read)).to.equal("done");
      expect(read.found).to.equal("v");
    });

    it("P9: a read without an answer is asked again under a new position; the old answer counts for nothing", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.network.hold(2, 1, "control");
      const read = cluster.read(2, "k");
      cluster.advance(800);
      expect(marks).to.include("raft.read.unanswered");
      expect(resultOf(read)).to.equal("open");
      cluster.put(1, "k");
      cluster.advance(20);
      cluster.network.release(2, 1, "control");
      expect(cluster.resultAfter(read)).to.equal("done");
      expect(read.found).to.equal("v");
    });

    it("P10: a read of an earlier start is not answered to the next", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.network.hold(1, 2, "control");
      cluster.read(2, "k");
      cluster.advance(20);
      const held = cluster.network.frames.filter(({ to, frame }) => to === 2 && frame.type === FrameType.ReadReply);
      expect(held).to.have.length(1);
      cluster.kill(2);
      cluster.network.isolate(1);
      cluster.start(2);
      cluster.network.cut(1, 2);
      const read = cluster.read(2, "k");
      cluster.advance(10);
      for (const { frame } of held) {
        cluster.replica(2).onFrame(1, "control", frame);
      }
      cluster.advance(10);
      expect(resultOf(read)).to.equal("open");
    });

    it("P8: a leader that is cut off serves no read, and its callers are served when it follows again", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.put(1, "k", { value: "old" });
      cluster.advance(100);
      cluster.network.isolate(1);
      const read = cluster.read(1, "k");
      cluster.until("another leader", () => cluster.leader !== 1);
      expect(cluster.resultAfter(cluster.put(cluster.leader, "k", { value: "new" }))).to.equal("done");
      expect(resultOf(read)).to.equal("open");
      cluster.network.rejoin(1);
      expect(cluster.resultAfter(read)).to.equal("done");
      expect(read.found).to.equal("new");
    });

    it("S36: a read whose time is up fails and does not hang", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.network.hold(1, 2, "log");
      expect(cluster.resultAfter(cluster.put(1, "k"))).to.equal("done");
      const read = cluster.read(2, "k", { deadlineMs: 400 });
      cluster.advance(500);
      expect(read.error?.reason).to.equal("DEADLINE");
    });
  });

  describe("a transfer", () => {
    it("holds proposals and fails none, wherever they are made", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.network.hold(1, 2, "log");
      const before = ALL.map((id) => cluster.put(id, `before ${id}`));
      cluster.advance(10);
      const transfer = cluster.transfer(3, 2);
      cluster.advance(20);
      expect(cluster.leader, "the target is not there yet").to.equal(1);
      const during = ALL.map((id) => cluster.put(id, `during ${id}`));
      cluster.advance(20);
      expect(during.map(resultOf)).to.deep.equal(["open", "open", "open"]);
      cluster.network.release(1, 2, "log");
      cluster.until("the transfer is done", () => transfer.leader !== null);
      expect(transfer.leader).to.deep.equal({ id: 2, term: cluster.replica(2).status().term });
      expect([...before, ...during].map((call) => cluster.resultAfter(call))).to.deep.equal(Array(6).fill("done"));
      cluster.advance(200);
      for (const id of ALL) {
        expect(
          ALL.flatMap((of) => cluster.attempts(of, id)),
          `the log of ${id}`,
        ).to.have.length(6);
      }
    });

    it("is given up after 20 ticks, the leader goes on, and what was held is executed", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.network.hold(1, 2, "log");
      cluster.put(1, "before");
      cluster.advance(10);
      const transfer = cluster.transfer(1, 2);
      const call = cluster.put(3, "during");
      expect(cluster.resultAfter(call)).to.equal("done");
      expect(cluster.leader).to.equal(1);
      cluster.until("an answer", () => transfer.error !== null);
      expect(`${transfer.error?.reason} ${transfer.error?.outcome}`).to.equal("NO_LEADER unknown");
    });

    it("to the best is done from a follower too, and says who leads", () => {
      const cluster = ReplicaCluster.ledBy(1);
      const transfer = cluster.transfer(2, 0);
      cluster.until("it is done", () => transfer.leader !== null);
      expect(transfer.leader?.id).to.be.oneOf([2, 3]);
      cluster.advance(1_000);
      expect(cluster.leader, "once is enough").to.equal(transfer.leader?.id);
    });

    it("P52: is seen by the asking member though the answer is later than the new leader", () => {
      for (const target of [0, 2]) {
        const cluster = ReplicaCluster.ledBy(1);
        cluster.network.hold(1, 3, "control");
        const transfer = cluster.transfer(3, target, { ifTerm: cluster.replica(1).status().term });
        cluster.until("another leader", () => cluster.leader !== 1);
        const first = cluster.leader;
        expect(first).to.equal(2);
        cluster.until("it is done", () => transfer.leader !== null || transfer.error !== null);
        expect(transfer.error?.reason, `to ${target}`).to.equal(undefined);
        expect(transfer.leader?.id, `to ${target}`).to.equal(first);
        cluster.advance(1_000);
        expect(cluster.leader, "once is enough").to.equal(first);
      }
    });

    it("P9: asks again when the leader's answer is lost, for the members and for a transfer", () => {
      for (const ask of ["members", "transfer"] as const) {
        const cluster = ReplicaCluster.ledBy(1);
        cluster.network.hold(1, 3, "control");
        const call = ask === "members" ? cluster.view(3) : cluster.transfer(3, 99);
        cluster.advance(50);
        cluster.network.cutLink(1, 3, "control");
        cluster.network.connect(1, 3);
        expect(call.error, ask).to.equal(null);
        cluster.advance(1_500);
        if ("view" in call) {
          expect(call.view, ask).to.include({ leaderId: 1, changing: false });
        } else {
          expect(call.error?.reason, ask).to.equal("MEMBER_NOT_FOUND");
        }
      }
    });

    it("is refused with the reason: unknown, of another term, to a member that is not there", () => {
      const cluster = ReplicaCluster.ledBy(1);
      const term = cluster.replica(1).status().term;
      const results = [
        [cluster.transfer(2, 99), "MEMBER_NOT_FOUND"],
        [cluster.transfer(3, 2, { ifTerm: term + 1 }), "CONFIG_CHANGED"],
      ] as const;
      for (const [call, reason] of results) {
        cluster.until("an answer", () => call.error !== null);
        expect(call.error?.reason).to.equal(reason);
      }
      cluster.kill(3);
      cluster.advance(700);
      const toNobody = cluster.transfer(2, 3);
      cluster.until("an answer", () => toNobody.error !== null);
      expect(toNobody.error?.reason).to.equal("NO_LEADER");
      const toItself = cluster.transfer(2, 1);
      cluster.until("an answer", () => toItself.leader !== null);
      expect(toItself.leader).to.deep.equal({ id: 1, term });
    });

    it("a member that stops hands over first, and does not come back", () => {
      const cluster = ReplicaCluster.ledBy(1);
      const call = cluster.put(1, "k");
      let isOver = false;
      cluster.replica(1).handOver(5_000, () => {
        isOver = true;
      });
      cluster.until("it is handed over", () => isOver);
      expect(cluster.leader).to.be.oneOf([2, 3]);
      expect(cluster.resultAfter(call)).to.equal("done");
      const after = cluster.put(1, "after");
      expect(cluster.resultAfter(after), "it still takes calls").to.equal("done");
      cluster.kill(cluster.leader);
      cluster.advance(4_000);
      expect(cluster.leader, "neither does it lead again").to.not.equal(1);
    });

    it("a member that stops and cannot hand over waits no longer than its limit", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.kill(2);
      cluster.kill(3);
      let isOver = false;
      cluster.replica(1).handOver(400, () => {
        isOver = true;
      });
      cluster.advance(300);
      expect(isOver).to.equal(false);
      cluster.advance(160);
      expect(isOver).to.equal(true);
    });
  });

  describe("the disk", () => {
    it("a leader whose log write does not end hands over, and no call fails", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.node(1).log.isHeld = true;
      const calls = ALL.map((id) => cluster.put(id, `k ${id}`));
      cluster.until("another leader", () => cluster.leader !== 1 && cluster.leader !== 0, 6_000);
      cluster.until("answers of the others", () => calls.slice(1).every(({ answered }) => answered > 0));
      expect(calls.slice(1).map(resultOf)).to.deep.equal(["done", "done"]);
      expect(cluster.replica(1).status().alarms).to.deep.equal(["the disk does not answer"]);
      expect(cluster.replica(1).status().isServing).to.equal(false);
      expect(cluster.replica(1).report.readiness().disk).to.equal("the disk does not answer");
      cluster.node(1).log.isHeld = false;
      cluster.node(1).log.flush();
      expect(cluster.resultAfter(calls[0] as DrivenCall)).to.equal("done");
      cluster.advance(200);
      expect(cluster.replica(1).status().alarms).to.deep.equal([]);
    });

    it("P60: a log write that does not end within 30 s ends the process", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.node(3).log.isHeld = true;
      cluster.put(1, "k");
      cluster.advance(29_900);
      expect(cluster.node(3).callbacks).to.not.include("disk stuck");
      cluster.advance(300);
      expect(cluster.node(3).callbacks).to.include("disk stuck");
    });

    it("P45: a leader that has little room refuses what grows, takes deletes, and takes everything again later", () => {
      const cluster = ReplicaCluster.ledBy(1);
      expect(cluster.resultAfter(cluster.put(1, "k"))).to.equal("done");
      cluster.replica(1).setDiskSpace("low");
      cluster.advance(10);
      for (const id of [1, 2]) {
        expect(cluster.resultAfter(cluster.put(id, "more")), `put at ${id}`).to.equal("STORAGE_FULL not-executed");
      }
      const remove = { kind: "delete-key", namespace: "default", key: Buffer.from("k") } as const;
      const call = cluster.execute(2, "delete", { ...remove, expectedModRevision: undefined, returnPrevious: false });
      expect(cluster.resultAfter(call)).to.equal("done");
      expect(cluster.leader).to.equal(1);
      cluster.replica(1).setDiskSpace("ok");
      expect(cluster.resultAfter(cluster.put(2, "more"))).to.equal("done");
    });

    it("P45: a follower whose disk is full stops no other member, takes no entries, and catches up afterwards", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.replica(3).setDiskSpace("full");
      const before = cluster.replica(3).status().lastIndex;
      for (let at = 0; at < 20; at++) {
        expect(cluster.resultAfter(cluster.put(1 + (at % 2), `k ${at}`))).to.equal("done");
      }
      expect(cluster.replica(3).status()).to.include({ lastIndex: before, isServing: false });
      expect(cluster.replica(3).status().alarms).to.deep.equal(["the disk is full"]);
      expect(cluster.replica(3).report.readiness()).to.include({ disk: "the disk is full", voter: null, leader: null });
      const [second, third] = cluster.replica(1).report.peers();
      expect([second?.id, second?.missingEntries, second?.lagMs]).to.deep.equal([2, 0, 0]);
      expect(third).to.deep.include({ id: 3, missingEntries: cluster.replica(1).status().lastIndex - before });
      expect(third?.lagMs).to.be.greaterThan(0);
      expect(cluster.replica(2).report.peers()).to.deep.equal([]);
      cluster.replica(3).setDiskSpace("ok");
      cluster.until("it has all", () => cluster.stored(3, "k 19") === "v");
    });

    it("P45: a leader whose disk is full hands over", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.replica(1).setDiskSpace("full");
      cluster.until("another leader", () => cluster.leader > 1, 1_000);
      expect(cluster.resultAfter(cluster.put(5 - cluster.leader, "k"))).to.equal("done");
    });
  });

  describe("the cluster tick", () => {
    it("S21: followers receive the leader's tick and a new leader continues from it", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.advance(10_000);
      const told = cluster.replica(1).tickMs;
      expect(told).to.be.greaterThan(10_000);
      for (const id of [2, 3]) {
        expect(cluster.replica(id).tickMs, `member ${id}`).to.be.within(told - 150, told);
      }
      cluster.kill(1);
      cluster.until("a leader", () => cluster.leader !== 0);
      const after = cluster.replica(cluster.leader).tickMs;
      expect(after).to.be.within(told - 150, told + 20);
      cluster.advance(1_000);
      expect(cluster.replica(cluster.leader).tickMs - after).to.be.within(1_000, 1_001);
    });

    it("S21: a tick of a term that is over counts for nothing", () => {
      const cluster = ReplicaCluster.ledBy(1);
      cluster.network.hold(1, 2, "control");
      cluster.advance(200);
      const held = cluster.network.frames.filter(({ from, to, frame }) => {
        return from === 1 && to === 2 && frame.type === FrameType.ClusterTick;
      });
      cluster.leadBy(3);
      const before = cluster.replica(2).tickMs;
      cluster.network.isolate(2);
      cluster.replica(2).onFrame(1, "control", { ...(held.at(-1)?.frame ?? expect.fail("no tick was sent")) });
      cluster.time.drain();
      expect(cluster.replica(2).tickMs).to.equal(before);
    });
  });
});
