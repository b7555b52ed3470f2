import { expect } from "chai";
import {
  drainCore,
  FakeTime,
  follow,
  followingCore,
  leadingCore,
  ReplicaCluster,
  ScriptedTransport,
} from "../../../test/harness/index.ts";
import { AppliedLog, putOf } from "../../../test/index.ts";
import { decodeLeaderTick, FrameType } from "../../peers/index.ts";
import { entryPayload, type RaftCore } from "../../raft/index.ts";
import {
  Checkpoints,
  CLUSTER_VERSION,
  decodeCommand,
  hasErasures,
  listMemory,
  type MemoryRegion,
} from "../../state/index.ts";
import { ClusterTick, DEFAULT_MAINTENANCE_LIMITS, ReplicaStatistics } from "../context/index.ts";
import { Proposals } from "../proposals/index.ts";
import { LeaderMaintenance } from "./leader-maintenance.ts";

/** The rows that hold the bytes of memory regions begin with the letter v. */
const PAGE_TABLE = Uint8Array.of(0x76);
const PAGE_TABLE_END = Uint8Array.of(0x77);

describe("LeaderMaintenance", () => {
  let time: FakeTime;
  let transport: ScriptedTransport;
  let applied: AppliedLog;
  let tick: ClusterTick;
  let checkpoints: Checkpoints;
  let diverged: string[];
  beforeEach(() => {
    checkpoints = new Checkpoints(10);
    diverged = [];
    time = new FakeTime();
    transport = new ScriptedTransport(time);
    applied = new AppliedLog();
    tick = new ClusterTick(time, applied.tickMs);
  });

  function over(core: RaftCore): { duties: LeaderMaintenance; proposals: Proposals } {
    const context = {
      memberId: core.id,
      boot: 1,
      clusterVersionMax: CLUSTER_VERSION,
      core,
      state: applied.store,
      transport,
      clock: time,
      tick,
      statistics: new ReplicaStatistics(),
      timeline: null,
      limits: {
        proposalsPerTurn: 100,
        proposalWorkMax: 1e6,
        state: { replayWindowMs: 60_000 },
        maintenance: { ...DEFAULT_MAINTENANCE_LIMITS, replayWindowMs: 60_000 },
      },
      arm: () => undefined,
      onDiverged: (reason: string) => diverged.push(reason),
    };
    const proposals = new Proposals(context, {
      hasCapacity: () => true,
      quorumKnownConfigIndex: () => core.quorumKnownConfigIndex,
      backOff: () => undefined,
    });
    const applyLoop = {
      checkpoints,
      get progress() {
        return applied.progress;
      },
    };
    const duties = new LeaderMaintenance(context, { applyLoop, proposals });
    return { duties, proposals };
  }

  /** Makes a key expire by the cluster tick. */
  function letSomethingExpire(): void {
    applied.execute(putOf("k", "v", { ttlSeconds: 5 }));
    tick.start(2);
    time.stall(6_000);
  }

  it("S21: a leader sends its tick ten times a second to every connected member; a follower sends none", () => {
    const cluster = ReplicaCluster.ledBy(1);
    cluster.network.cutLink(1, 3, "control");
    const before = cluster.network.frames.length;
    cluster.advance(1_000);
    const told = cluster.network.frames.slice(before).filter(({ frame }) => frame.type === FrameType.ClusterTick);
    expect(new Set(told.map(({ from, to }) => `${from} to ${to}`))).to.deep.equal(new Set(["1 to 2"]));
    expect(told.length).to.be.within(9, 11);
    const ticks = told.map(({ frame }) => decodeLeaderTick(frame.body));
    expect(new Set(ticks.map(({ term }) => term))).to.deep.equal(new Set([cluster.replica(1).status().term]));
    expect(ticks.every(({ tickMs }, at) => at === 0 || tickMs - (ticks[at - 1]?.tickMs ?? 0) >= 99)).to.equal(true);
  });

  it("S22: proposes what is due, one command at a time", () => {
    const core = leadingCore();
    const { duties, proposals } = over(core);
    letSomethingExpire();
    duties.onTick(time.monotonicMs());
    duties.onTick(time.monotonicMs());
    expect(proposals.size).to.equal(1);
    const before = core.lastIndex;
    proposals.handOut();
    duties.onTick(time.monotonicMs());
    proposals.handOut();
    expect(core.lastIndex).to.equal(before + 1);
    proposals.answer(1, null);
    proposals.handOut();
    expect(core.lastIndex, "it is due still, as nothing was applied").to.equal(before + 2);
  });

  it("S22: names what has run out, and nothing else", () => {
    const core = leadingCore();
    const { duties, proposals } = over(core);
    letSomethingExpire();
    duties.onTick(time.monotonicMs());
    proposals.handOut();
    drainCore(core);
    const [row] = core.entries(core.lastIndex, core.lastIndex, 1e6);
    const { operation } = decodeCommand(entryPayload(row as Uint8Array));
    expect(
      operation.kind === "expire-keys" ? operation.keys.map(({ key }) => Buffer.from(key).toString()) : [],
    ).to.deep.equal(["k"]);
  });

  it("P44: says when most voters have another state than this member, as long as it leads", () => {
    const core = leadingCore(null, [1, 2, 3]);
    const { duties } = over(core);
    checkpoints.onApplied(10, 7);
    duties.comparison.onReport(2, { index: 10, digest: 8 });
    duties.onTick(time.monotonicMs());
    expect(diverged).to.deep.equal([]);
    duties.comparison.onReport(3, { index: 10, digest: 8 });
    duties.onTick(time.monotonicMs());
    expect(diverged).to.deep.equal(["most voters, members 2, 3, have another state than this one"]);
    follow(core, 2, 6);
    duties.onTick(time.monotonicMs());
    expect([diverged.length, duties.comparison.alarms]).to.deep.equal([1, []]);
  });

  it("S44: erases what was freed in steps, on all members, and a new leader goes on with it", () => {
    const cluster = ReplicaCluster.ledBy(1);
    const allocation = { kind: "allocate-memory", namespace: "default", sizeBytes: 4_194_304, label: "" } as const;
    const allocated = cluster.execute(2, "allocate", allocation);
    expect(cluster.resultAfter(allocated)).to.equal("done");
    const [found] = listMemory(cluster.replica(2).state, "default", undefined, 1).regions;
    const region = { namespace: "default", regionId: (found as MemoryRegion).regionId, expectedVersion: undefined };
    const data = new Uint8Array(4_000_000).fill(1);
    cluster.resultAfter(cluster.execute(2, "write", { kind: "write-memory", ...region, offset: 0, data }));
    cluster.resultAfter(cluster.execute(2, "free", { kind: "free-memory", ...region }));
    const isErasing = (id: number) => hasErasures(cluster.replica(id).state);
    expect(isErasing(2)).to.equal(true);
    cluster.kill(1);
    cluster.until("a new leader has erased everything", () => cluster.leader > 1 && !isErasing(cluster.leader));
    cluster.start(1);
    cluster.until("everybody has", () => [1, 2, 3].every((id) => !isErasing(id)));
    cluster.until("the states are equal", () => {
      const digests = [1, 2, 3].map((id) => cluster.replica(id).status().digest);
      return new Set(digests).size === 1;
    });
    for (const id of [1, 2, 3]) {
      let pages = 0;
      cluster.replica(id).state.scan(PAGE_TABLE, PAGE_TABLE_END, () => {
        pages++;
        return true;
      });
      expect(pages, `at member ${id}`).to.equal(0);
    }
  });

  it("S22: proposes nothing while it does not lead, nor once it has stopped", () => {
    const core = followingCore();
    const { duties, proposals } = over(core);
    letSomethingExpire();
    duties.onTick(time.monotonicMs());
    follow(core, 3, 6);
    duties.onTick(time.monotonicMs());
    expect(proposals.size).to.equal(0);
    const stopped = over(leadingCore());
    stopped.duties.onTick(time.monotonicMs());
    stopped.duties.stop();
    stopped.proposals.refuseAll();
    stopped.duties.onTick(time.monotonicMs());
    expect(stopped.proposals.size).to.equal(0);
  });
});
