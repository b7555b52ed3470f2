import { expect } from "chai";
import { type DrivenCall, ReplicaCluster, resultOf } from "../../../test/harness/index.ts";
import { OWNER, requestOf } from "../../../test/index.ts";
import { listenToMarks } from "../../primitives/index.ts";
import {
  type AcquireLock,
  type CreateLock,
  describeLock,
  type LockView,
  type RequestIdentity,
} from "../../state/index.ts";

const ALL = [1, 2, 3];
const LOCK = { namespace: "default", rw: false, name: "l" };

/** A request for the lock at a member, and what its caller does when it goes away. */
interface Asked extends DrivenCall {
  abandon(): void;
}

describe("waiting for a lock at three replicas", () => {
  let cluster: ReplicaCluster;
  let marks: string[];
  let requests: number;

  beforeEach(() => {
    marks = [];
    requests = 0x6000_0000;
    cluster = ReplicaCluster.ledBy(1);
    const create: CreateLock = { kind: "create-lock", ...LOCK, ttlSeconds: 30, lockDelaySeconds: 0 };
    expect(cluster.resultAfter(cluster.execute(1, "create", create))).to.equal("done");
    listenToMarks((mark) => marks.push(mark));
  });
  afterEach(() => listenToMarks(null));

  function ask(
    id: number,
    changes: Partial<AcquireLock> = {},
    options: { readonly deadlineMs?: number; readonly request?: RequestIdentity } = {},
  ): Asked {
    const { namespace, name } = LOCK;
    const operation: AcquireLock = {
      kind: "acquire-lock",
      namespace,
      name,
      mode: "exclusive",
      ttlSeconds: 0,
      owner: "",
      fencingToken: 0,
      waitMs: 20_000,
      ...changes,
    };
    const request = options.request ?? requestOf(requests++);
    const call: DrivenCall = { name: `ask ${id}`, error: null, outcome: null, answered: 0 };
    const command = { principal: OWNER, request, operation };
    const abandon = cluster.replica(id).propose(command, cluster.deadline(options.deadlineMs), (error, outcome) => {
      expect(call.answered, "a call is answered once").to.equal(0);
      Object.assign(call, { error, outcome, answered: 1 });
    });
    return Object.assign(call, { abandon });
  }

  /** Releases all holds. */
  function release(id: number): void {
    const fencingToken = view(id).holds[0]?.token ?? 0;
    const call = cluster.execute(id, "release", {
      kind: "release-lock",
      ...LOCK,
      mode: null,
      owner: "",
      fencingToken,
    });
    expect(cluster.resultAfter(call)).to.equal("done");
  }

  function view(id: number): LockView {
    return describeLock(cluster.replica(id).state, LOCK);
  }

  /** The token, or the reason why there is none. */
  function heldBy(call: DrivenCall): string {
    const answer = call.outcome?.answer;
    if (answer !== undefined && "kind" in answer && answer.kind === "acquire-lock") {
      return answer.hold === null ? "not acquired" : `token ${answer.hold.token}`;
    }
    return resultOf(call);
  }

  function isHeld(): boolean {
    return ALL.every((id) => cluster.nodes.get(id)?.isRunning !== true || view(id).state === "held");
  }

  function waiting(id: number): number {
    return view(id).lock.waitingWriters;
  }

  it("is answered at the member that was asked, when the grant is applied there", () => {
    const first = ask(1);
    cluster.resultAfter(first);
    const second = ask(2);
    const third = ask(3);
    cluster.advance(1_000);
    expect([resultOf(second), resultOf(third), waiting(1)]).to.deep.equal(["open", "open", 2]);
    release(3);
    cluster.until("the next one holds it", () => second.answered + third.answered > 0);
    release(1);
    cluster.until("the last one holds it", () => second.answered + third.answered === 2);
    expect(heldBy(second)).to.match(/^token/);
    expect(heldBy(third)).to.match(/^token/);
    expect(heldBy(second)).not.to.equal(heldBy(third));
  });

  it("is answered at once, also where nothing was waited for until now", () => {
    cluster.resultAfter(ask(1));
    cluster.advance(3_000);
    // Less than a heartbeat interval.
    const soon = () => {
      for (let step = 0; step < 10; step++) {
        cluster.advance(1);
      }
    };
    const second = ask(2);
    soon();
    expect(waiting(1)).to.equal(1);
    const fencingToken = view(1).holds[0]?.token ?? 0;
    const call = cluster.execute(1, "release", { kind: "release-lock", ...LOCK, mode: null, owner: "", fencingToken });
    soon();
    expect([resultOf(call), heldBy(second)]).to.deep.equal(["done", `token ${view(1).lock.lastToken}`]);
  });

  it("ends without it when the time to wait is over, by the leader's word", () => {
    cluster.resultAfter(ask(1));
    const second = ask(2, { waitMs: 700 });
    cluster.advance(600);
    expect(resultOf(second)).to.equal("open");
    cluster.advance(400);
    expect([heldBy(second), waiting(2)]).to.deep.equal(["not acquired", 0]);
  });

  it("S21: a hold goes to the next when it has expired at the leader, not before", () => {
    cluster.resultAfter(ask(1, { ttlSeconds: 2 }));
    const second = ask(2);
    cluster.advance(1_800);
    expect(resultOf(second)).to.equal("open");
    cluster.advance(600);
    expect(heldBy(second)).to.match(/^token/);
  });

  it("S25: a caller that is gone leaves the queue", () => {
    cluster.resultAfter(ask(1));
    const second = ask(2);
    cluster.advance(200);
    expect(waiting(1)).to.equal(1);
    second.abandon();
    cluster.advance(200);
    expect([waiting(1), waiting(2), resultOf(second)]).to.deep.equal([0, 0, "open"]);
    second.abandon();
    release(1);
    cluster.advance(200);
    expect(view(1).state).to.equal("free");
    expect(marks.filter((mark) => mark === "replica.acquisition.cancelled")).to.have.length(1);
  });

  it("S25: a caller whose deadline has passed gets that answer and leaves the queue", () => {
    cluster.resultAfter(ask(1));
    const second = ask(3, {}, { deadlineMs: 500 });
    cluster.advance(450);
    expect([resultOf(second), waiting(1)]).to.deep.equal(["open", 1]);
    cluster.advance(300);
    expect([resultOf(second), waiting(1)]).to.deep.equal(["DEADLINE unknown", 0]);
  });

  it("S25: what is handed out when the caller goes is undone when it is applied, whatever it has come to", () => {
    for (const isFree of [true, false]) {
      if (!isFree) {
        cluster.resultAfter(ask(1));
      }
      const before = view(1).lock.lastToken;
      cluster.network.hold(2, 1, "log");
      const second = ask(2);
      cluster.advance(50);
      second.abandon();
      cluster.network.release(2, 1, "log");
      cluster.advance(500);
      expect([resultOf(second), waiting(1)]).to.deep.equal(["open", 0]);
      expect(view(1).state).to.equal(isFree ? "free" : "held");
      expect(view(1).lock.lastToken !== before, "it was executed, and undone").to.equal(isFree);
    }
  });

  it("S25: what is in no log when the caller goes never gets there", () => {
    cluster.network.isolate(2);
    cluster.until("no leader is heard", () => cluster.replica(2).status().leaderId === 0);
    const second = ask(2);
    cluster.advance(20);
    second.abandon();
    cluster.network.rejoin(2);
    cluster.until("a leader is heard", () => cluster.replica(2).status().leaderId !== 0);
    cluster.advance(500);
    expect([view(2).lock.lastToken, resultOf(second)]).to.deep.equal([0, "open"]);
    expect(marks).not.to.include("replica.acquisition.cancelled");
  });

  it("S25: to undo it outlives the want of a leader", () => {
    cluster.resultAfter(ask(2));
    const second = ask(3);
    cluster.advance(200);
    cluster.kill(1);
    cluster.kill(2);
    second.abandon();
    cluster.advance(8_000);
    cluster.start(1);
    cluster.until("a leader", () => cluster.leader !== 0);
    cluster.until("it is out of the queue", () => waiting(3) === 0);
    expect(resultOf(second)).to.equal("open");
  });

  it("S24: asked again at another member when the first is lost, keeps its place and is answered there", () => {
    cluster.resultAfter(ask(1));
    const request = requestOf(7);
    const lost = ask(2, {}, { request });
    cluster.advance(200);
    const behind = ask(1);
    cluster.kill(2);
    const again = ask(3, {}, { request });
    cluster.advance(300);
    expect([waiting(3), resultOf(again), resultOf(lost)]).to.deep.equal([2, "open", "SHUTTING_DOWN unknown"]);
    release(1);
    cluster.advance(300);
    expect([heldBy(again), resultOf(behind)]).to.deep.equal([`token ${view(3).lock.lastToken}`, "open"]);
    expect(heldBy(ask(3, {}, { request })), "not answered yet").to.equal("open");
    cluster.advance(300);
    expect(view(1).holds).to.have.length(1);
  });

  it("S24, S25: the attempt that was taken over hears so, and its going away takes nothing from the newer one", () => {
    cluster.resultAfter(ask(1));
    const request = requestOf(7);
    const older = ask(2, {}, { request });
    cluster.advance(200);
    const newer = ask(3, {}, { request });
    cluster.advance(200);
    expect(resultOf(older)).to.equal("LEADER_CHANGED");
    older.abandon();
    cluster.advance(200);
    expect(waiting(1)).to.equal(1);
    release(1);
    cluster.advance(200);
    expect(heldBy(newer)).to.match(/^token/);
  });

  it("outlives its leader, and a hold keeps what was left of its life (S21)", () => {
    cluster.resultAfter(ask(2, { ttlSeconds: 10 }));
    const second = ask(3);
    cluster.advance(4_000);
    cluster.kill(1);
    cluster.advance(5_500);
    expect([resultOf(second), isHeld()]).to.deep.equal(["open", true]);
    cluster.advance(4_000);
    expect(heldBy(second)).to.match(/^token/);
  });

  it("leaves the queue at its end when its member is lost and no caller asks again", () => {
    cluster.resultAfter(ask(1));
    ask(2, { waitMs: 2_000 });
    cluster.advance(200);
    cluster.kill(2);
    cluster.advance(1_500);
    expect(waiting(1)).to.equal(1);
    cluster.advance(1_000);
    expect(waiting(1)).to.equal(0);
  });

  it("ends with the process of its member, which says that it is not known", () => {
    cluster.resultAfter(ask(1));
    const second = ask(2);
    cluster.advance(200);
    cluster.replica(2).stop();
    expect(resultOf(second)).to.equal("SHUTTING_DOWN unknown");
    second.abandon();
  });
});
