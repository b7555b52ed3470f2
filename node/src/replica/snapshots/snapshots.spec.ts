import { expect } from "chai";
import { type DrivenCall, type MemorySnapshot, ReplicaCluster } from "../../../test/harness/index.ts";
import { decodeChunk, decodeManifest, encodeChunk, encodeManifest, type Frame, FrameType } from "../../peers/index.ts";
import { listenToMarks } from "../../primitives/index.ts";
import { CLUSTER_VERSION } from "../../state/index.ts";
import { DEFAULT_REPLICA_LIMITS } from "../index.ts";

/** The log is compacted soon, and keeps nothing for members that were away. */
const SHORT = {
  syncBytes: 1,
  compaction: {
    ...DEFAULT_REPLICA_LIMITS.compaction,
    keptEntries: 2,
    dueEntries: 4,
    neededBytes: 0,
  },
  snapshots: { ...DEFAULT_REPLICA_LIMITS.snapshots, chunkBytes: 300 },
};

function putMany(cluster: ReplicaCluster, id: number, count: number): void {
  for (let at = 0; at < count; at++) {
    const call = cluster.put(id, `many ${at}`);
    cluster.until("an answer", () => call.answered > 0);
  }
}

/** Member 2 misses so much that only a snapshot helps it; its links to the others do not work yet. */
function withOneBehind(limits: object = {}): ReplicaCluster {
  const cluster = ReplicaCluster.ledBy(1, { ...SHORT, ...limits });
  cluster.network.isolate(2);
  putMany(cluster, 1, 12);
  expect(cluster.replica(1).status().firstIndex).to.be.greaterThan(cluster.replica(2).status().lastIndex + 1);
  return cluster;
}

function isCaughtUp(cluster: ReplicaCluster, id: number): boolean {
  const [own, leader] = [cluster.replica(id).status(), cluster.replica(cluster.leader).status()];
  return own.appliedIndex === leader.appliedIndex && own.digest === leader.digest;
}

describe("snapshots", () => {
  let marks: string[];
  beforeEach(() => {
    marks = [];
    listenToMarks((mark) => marks.push(mark));
  });
  afterEach(() => listenToMarks(null));

  const count = (name: string): number => marks.filter((mark) => mark === name).length;

  it("a member that needs more than the log has is sent the state, and goes on from there", () => {
    const cluster = withOneBehind();
    const { lastIndex } = cluster.replica(1).status();
    cluster.network.rejoin(2);
    const whileReceiving: unknown[] = [];
    listenToMarks((mark) => {
      marks.push(mark);
      if (mark === "replica.install.begun") {
        const { report } = cluster.replica(2);
        whileReceiving.push(report.readiness().applied, cluster.replica(2).status().isServing);
      }
    });
    cluster.until("it is caught up", () => isCaughtUp(cluster, 2));
    expect(whileReceiving).to.deep.equal(["this member is being caught up by a snapshot", false]);
    cluster.until("it serves", () => cluster.replica(2).status().isServing);
    const [snapshot] = cluster.network.snapshots;
    const types = snapshot?.read.map(({ type }) => type) ?? [];
    expect(types.at(0)).to.equal(FrameType.SnapshotManifest);
    expect(types.filter((type) => type === FrameType.SnapshotChunk).length).to.be.greaterThan(2);
    expect(types.at(-1)).to.equal(FrameType.SnapshotTrailer);
    expect(cluster.node(2).state.installed).to.include({ index: lastIndex });
    expect(cluster.node(2).log.durable.bounds.first).to.equal(lastIndex + 1);
    expect(count("replica.snapshot.sent")).to.equal(1);
    expect(cluster.resultAfter(cluster.put(2, "after"))).to.equal("done");
    expect([1, 2, 3].map((id) => cluster.node(id).state.openViews)).to.deep.equal([0, 0, 0]);
  });

  it("S44: are not begun while the state cannot be handed to the disk without waiting", () => {
    const cluster = withOneBehind();
    const { state } = cluster.node(1);
    state.flush = () => false;
    cluster.network.rejoin(2);
    cluster.advance(2_000);
    expect(count("replica.snapshot.started")).to.equal(0);
    state.flush = () => true;
    cluster.until("it is caught up", () => isCaughtUp(cluster, 2));
  });

  it("S44: the leader goes on while it sends, and what it logs meanwhile follows", () => {
    const cluster = withOneBehind();
    cluster.network.areSnapshotsHeld = true;
    cluster.network.rejoin(2);
    cluster.until("a stream", () => cluster.network.snapshots.length === 1);
    putMany(cluster, 3, 3);
    expect(cluster.replica(2).status().appliedIndex).to.be.lessThan(cluster.replica(1).status().firstIndex);
    cluster.network.snapshots[0]?.release();
    cluster.until("it is caught up", () => isCaughtUp(cluster, 2));
    expect(count("replica.snapshot.started")).to.equal(1);
  });

  it("P27: the log behind a snapshot is kept while it is sent, and until the member has acknowledged it", () => {
    const compaction = { ...SHORT.compaction, neededBytes: 64 * 1024 * 1024 };
    const cluster = ReplicaCluster.ledBy(1, { ...SHORT, compaction });
    cluster.network.isolate(2);
    // A new leader does not know which entries member 2 has.
    cluster.transfer(1, 3);
    cluster.until("another leader", () => cluster.leader === 3);
    const transfer = cluster.transfer(3, 1);
    cluster.until("the first again", () => transfer.leader !== null);
    putMany(cluster, 1, 24);
    cluster.network.areSnapshotsHeld = true;
    cluster.network.rejoin(2);
    cluster.until("a stream", () => cluster.network.snapshots.length === 1);
    const index = cluster.replica(1).status().appliedIndex;
    putMany(cluster, 1, 30);
    expect(cluster.replica(1).status().firstIndex).to.be.at.most(index + 1);
    cluster.node(2).log.isHeld = true;
    cluster.network.snapshots[0]?.release();
    cluster.until("all is sent", () => count("replica.snapshot.sent") === 1);
    putMany(cluster, 1, 30);
    expect(cluster.replica(1).status().firstIndex, "it is not acknowledged yet").to.be.at.most(index + 1);
    cluster.node(2).log.isHeld = false;
    cluster.node(2).log.flush();
    cluster.until("it is caught up", () => isCaughtUp(cluster, 2));
    expect(count("replica.snapshot.started")).to.equal(1);
    putMany(cluster, 1, 12);
    expect(cluster.replica(1).status().firstIndex).to.be.greaterThan(index + 1);
  });

  it("P28: the snapshot of a new leader takes the place of the one that was being received", () => {
    const cluster = withOneBehind();
    cluster.node(2).state.isReplacementHeld = true;
    cluster.network.rejoin(2);
    cluster.until("it is begun", () => count("replica.install.begun") === 1);
    const [first] = cluster.network.snapshots as [MemorySnapshot];
    const transfer = cluster.transfer(1, 3);
    cluster.until("another leader", () => transfer.leader !== null);
    cluster.node(2).state.isReplacementHeld = false;
    cluster.node(2).state.finishStep();
    cluster.until("it is caught up", () => isCaughtUp(cluster, 2));
    expect(first.isClosed).to.equal(true);
    expect(count("replica.install.begun")).to.equal(2);
    expect(cluster.network.snapshots.at(-1)?.from).to.equal(3);
  });

  describe("and calls that wait at the member that is caught up", () => {
    /** Member 2 hands a call to leader 1, hears nothing more, and is caught up by a snapshot. */
    function caughtUpWith(call: (cluster: ReplicaCluster) => DrivenCall, meanwhile: (cluster: ReplicaCluster) => void) {
      const cluster = ReplicaCluster.ledBy(1, SHORT);
      cluster.network.hold(1, 2, "log");
      const waiting = call(cluster);
      cluster.advance(30);
      cluster.network.isolate(2);
      putMany(cluster, 1, 12);
      meanwhile(cluster);
      expect(waiting.answered).to.equal(0);
      cluster.network.rejoin(2);
      cluster.until("it is caught up", () => count("replica.install.switched") > 0 && isCaughtUp(cluster, 2));
      return { cluster, waiting };
    }

    it("one whose answer is stored in the snapshot is answered with it, once", () => {
      const { cluster, waiting } = caughtUpWith(
        (one) => one.put(2, "mine", { value: "x" }),
        () => undefined,
      );
      expect(cluster.resultAfter(waiting)).to.equal("done");
      expect(waiting.outcome?.answer).to.include({ kind: "put-key", created: true });
      expect(count("replica.attempt.answered-by-snapshot")).to.equal(1);
      cluster.advance(1_000);
      expect(count("replica.attempt.refuted")).to.equal(0);
    });

    it("one of a kind that leaves no answer is unknown", () => {
      const incarnation = new Uint8Array(16).fill(2);
      const address = { peerEndpoint: "h:7", grpcEndpoint: "h:8", httpEndpoint: "h:9" };
      const { cluster, waiting } = caughtUpWith(
        (one) => one.claim(2, { kind: "update-member", id: 2, incarnation, address }),
        () => undefined,
      );
      expect(cluster.resultAfter(waiting)).to.equal("LEADER_CHANGED unknown");
    });

    it("one older than half of the replay window is unknown, for its answer may have been dropped", () => {
      const { cluster, waiting } = caughtUpWith(
        (one) => one.put(2, "mine", { deadlineMs: 600_000 }),
        (one) => one.advance(DEFAULT_REPLICA_LIMITS.state.replayWindowMs / 2),
      );
      expect(cluster.resultAfter(waiting)).to.equal("LEADER_CHANGED unknown");
    });

    it("P56: one of a term that was over in the snapshot, without an answer there, is made again, once", () => {
      const cluster = ReplicaCluster.ledBy(1, SHORT);
      cluster.node(1).log.isHeld = true;
      cluster.network.hold(1, 3, "log");
      cluster.network.hold(1, 2, "log");
      const waiting = cluster.put(2, "mine");
      cluster.advance(30);
      cluster.network.isolate(2);
      cluster.kill(1);
      cluster.start(1);
      cluster.network.cut(1, 2);
      cluster.until("a leader", () => cluster.leader !== 0);
      putMany(cluster, cluster.leader, 12);
      expect(waiting.answered).to.equal(0);
      cluster.network.rejoin(2);
      cluster.until("an install", () => count("replica.install.switched") > 0);
      expect(count("replica.attempt.refuted-by-snapshot")).to.equal(1);
      expect(cluster.resultAfter(waiting)).to.equal("done");
      cluster.until("it is caught up", () => isCaughtUp(cluster, 2));
      expect(cluster.attempts(2, cluster.leader)).to.have.length(1);
    });
  });

  describe("that are not what they should be", () => {
    const spoilt: readonly (readonly [string, (frame: Frame, at: number) => Frame])[] = [
      [
        "are of another cluster",
        (frame) => (frame.type === FrameType.SnapshotManifest ? ofAnotherCluster(frame) : frame),
      ],
      ["are of a later form", (frame) => (frame.type === FrameType.SnapshotManifest ? ofLaterForm(frame) : frame)],
      ["are of a later cluster version", (frame, at) => (at === 0 ? ofLaterVersion(frame) : frame)],
      ["miss a chunk", (frame, at) => (at === 2 ? renumbered(frame, 2) : frame)],
      ["have a row that was changed", (frame, at) => (at === 2 ? changed(frame) : frame)],
      ["end before their trailer", (frame, at) => (at === 2 ? { ...frame, type: FrameType.SnapshotTrailer } : frame)],
      ["are no snapshot at all", (frame, at) => (at === 0 ? { ...frame, type: FrameType.SnapshotChunk } : frame)],
      ["cannot be decoded", (frame, at) => (at === 1 ? { ...frame, body: frame.body.subarray(0, 5) } : frame)],
    ];
    for (const [name, spoil] of spoilt) {
      it(`are refused when they ${name}, and sent again later`, () => {
        const cluster = withOneBehind();
        cluster.network.areSnapshotsHeld = true;
        cluster.network.rejoin(2);
        cluster.until("a stream", () => cluster.network.snapshots.length === 1);
        const { lastIndex } = cluster.replica(2).status();
        const [first] = cluster.network.snapshots as [MemorySnapshot];
        let at = 0;
        first.onRead = (frame) => spoil(frame, at++);
        cluster.network.areSnapshotsHeld = false;
        first.release();
        cluster.until("it is refused", () => first.isClosed);
        cluster.advance(20);
        expect(cluster.replica(2).status().appliedIndex).to.equal(lastIndex);
        expect(count("replica.snapshot.started")).to.equal(1);
        cluster.until("it is caught up", () => isCaughtUp(cluster, 2));
        expect(count("replica.snapshot.started")).to.equal(2);
        expect(cluster.network.snapshots).to.have.length(2);
      });
    }

    it("are sent again when their connection breaks, the later the more have failed", () => {
      const cluster = withOneBehind();
      cluster.network.areSnapshotsHeld = true;
      cluster.network.rejoin(2);
      const begun: number[] = [];
      for (let at = 1; at <= 3; at++) {
        cluster.until("a stream", () => cluster.network.snapshots.length === at);
        begun.push(cluster.time.monotonicMs());
        cluster.network.snapshots[at - 1]?.break(new Error("the connection is lost"));
        cluster.advance(10);
        expect(cluster.node(1).state.openViews, "a view holds on to files").to.equal(0);
      }
      const [first = 0, second = 0, third = 0] = begun;
      expect(second - first).to.be.within(900, 1_200);
      expect(third - second).to.be.within(1_900, 2_200);
      cluster.network.areSnapshotsHeld = false;
      cluster.until("it is caught up", () => isCaughtUp(cluster, 2));
    });
  });
});

const body = (frames: readonly Frame[]): Uint8Array => (frames[0] as Frame).body;

function manifestOf(frames: readonly Frame[], changes: object): Frame {
  const manifest = { ...decodeManifest(body(frames)), ...changes };
  return { type: FrameType.SnapshotManifest, body: encodeManifest(manifest) };
}

const ofAnotherCluster = (frame: Frame): Frame =>
  manifestOf([frame], { clusterId: "11111111-6e0e-4f0f-9b7a-3a1d6d0f2a11" });
const ofLaterVersion = (frame: Frame): Frame => manifestOf([frame], { clusterVersion: CLUSTER_VERSION + 1 });
const ofLaterForm = (frame: Frame): Frame => manifestOf([frame], { format: 2 });

function renumbered(frame: Frame, number: number): Frame {
  return { ...frame, body: encodeChunk(number, decodeChunk(frame.body).rows) };
}

/** The same chunk with one bit of a value flipped. */
function changed(frame: Frame): Frame {
  const { number, rows } = decodeChunk(frame.body);
  const [row, ...others] = rows;
  const value = Uint8Array.from(row?.value ?? []);
  value[0] = (value[0] ?? 0) ^ 1;
  return { ...frame, body: encodeChunk(number, [{ key: row?.key ?? value, value }, ...others]) };
}
