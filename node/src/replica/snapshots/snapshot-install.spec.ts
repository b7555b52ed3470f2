import { expect } from "chai";
import { ReplicaCluster, ScriptedLeader } from "../../../test/harness/index.ts";
import { decodeManifest, encodeChunk, encodeManifest, type Frame, FrameType } from "../../peers/index.ts";
import { listenToMarks } from "../../primitives/index.ts";
import { EntryType } from "../../raft/index.ts";
import { readProgress } from "../../state/index.ts";
import { LOCAL_ROWS_FROM } from "../../storage/index.ts";
import { DEFAULT_REPLICA_LIMITS } from "../index.ts";

/** The log is compacted soon, and keeps nothing for members that were away. */
const SHORT = {
  syncBytes: 1,
  compaction: { ...DEFAULT_REPLICA_LIMITS.compaction, keptEntries: 2, dueEntries: 4, neededBytes: 0 },
};

function putMany(cluster: ReplicaCluster, count: number): void {
  for (let at = 0; at < count; at++) {
    const call = cluster.put(1, `many ${at}`);
    cluster.until("an answer", () => call.answered > 0);
  }
}

/** The manifest of the snapshot, changed. */
function manifestOf(frames: readonly Frame[], changes: object): Frame {
  const manifest = { ...decodeManifest(body(frames)), ...changes };
  return { type: FrameType.SnapshotManifest, body: encodeManifest(manifest) };
}

const body = (frames: readonly Frame[]): Uint8Array => (frames[0] as Frame).body;

describe("a member that receives a snapshot", () => {
  let cluster: ReplicaCluster;
  let leader: ScriptedLeader;
  let frames: Frame[];
  let marks: string[];
  beforeEach(() => {
    marks = [];
    listenToMarks((mark) => marks.push(mark));
  });
  afterEach(() => listenToMarks(null));

  /** Member 2 is behind, and its only peer is a scripted leader that has the state of member 1. */
  function receiving(prepare: (one: ReplicaCluster) => void = () => undefined): void {
    cluster = ReplicaCluster.ledBy(1, SHORT);
    prepare(cluster);
    cluster.network.isolate(2);
    putMany(cluster, 12);
    cluster.kill(1);
    cluster.kill(3);
    leader = new ScriptedLeader(cluster.time, cluster.replica(2), 2, 1, cluster.replica(2).status().term + 5);
    frames = leader.framesOf(cluster.node(1).state);
    leader.heartbeat();
    cluster.time.drain();
    expect(cluster.replica(2).status().leaderId).to.equal(1);
  }

  const own = () => cluster.replica(2).status();
  const lastTerm = (): number => cluster.node(2).log.durable.bounds.lastTerm;
  const isInstalled = (): boolean => own().appliedIndex === readProgress(cluster.node(1).state).appliedIndex;

  it("steps follow one another: rows, durable rows, rest, place, log, switch", () => {
    receiving();
    const { state, log } = cluster.node(2);
    state.isReplacementHeld = true;
    leader.send(frames);
    cluster.time.drain();
    for (let steps = 0; !marks.includes("replica.install.placed"); steps++) {
      expect(isInstalled()).to.equal(false);
      expect(log.writes.some(({ resetTo }) => resetTo !== null)).to.equal(false);
      expect(steps).to.be.lessThan(100);
      log.isHeld = true;
      state.finishStep();
      cluster.time.drain();
    }
    expect(log.writes.at(-1)?.resetTo).to.include({ index: readProgress(cluster.node(1).state).appliedIndex });
    expect(isInstalled(), "not before the log has durably followed").to.equal(false);
    log.flush();
    cluster.time.drain();
    expect(isInstalled()).to.equal(true);
    expect(own().digest).to.equal(readProgress(cluster.node(1).state).digest);
  });

  it("a kill before the placing finds the old state, one after it the new one", () => {
    for (const isPlaced of [false, true]) {
      marks = [];
      receiving();
      const before = own().appliedIndex;
      const { state, log } = cluster.node(2);
      leader.send(frames, isPlaced);
      log.isHeld = isPlaced;
      cluster.time.drain();
      expect(marks.includes("replica.install.placed")).to.equal(isPlaced);
      state.crash();
      const { appliedIndex } = readProgress(state);
      expect(appliedIndex).to.equal(isPlaced ? readProgress(cluster.node(1).state).appliedIndex : before);
      cluster.replica(2).stop();
    }
  });

  it("an Append that extends the log cancels it before it is placed, and applying goes on", () => {
    receiving();
    const snapshot = leader.send(frames.slice(0, 3), false);
    cluster.time.drain();
    expect(cluster.node(2).state.isReplacing || snapshot.read.length > 1).to.equal(true);
    const { lastIndex } = own();
    leader.append(EntryType.Empty, lastIndex, lastTerm());
    cluster.time.drain();
    expect(marks).to.include("replica.install.cancelled");
    expect(snapshot.isClosed).to.equal(true);
    expect(own().appliedIndex).to.equal(lastIndex + 1);
  });

  it("another leader cancels it", () => {
    receiving();
    const snapshot = leader.send(frames.slice(0, 3), false);
    cluster.time.drain();
    new ScriptedLeader(cluster.time, cluster.replica(2), 2, 3, leader.term + 1).heartbeat();
    cluster.time.drain();
    expect(snapshot.isClosed).to.equal(true);
    expect(marks).to.include("replica.install.cancelled");
  });

  it("P28: a newer offer takes the place of an older one, and an older one is refused", () => {
    receiving();
    const first = leader.send(frames.slice(0, 3), false);
    cluster.time.drain();
    const older = leader.send([manifestOf(frames, { index: decodeManifest(body(frames)).index - 1 })], false);
    cluster.time.drain();
    expect([first.isClosed, older.isClosed]).to.deep.equal([false, true]);
    const second = leader.send(frames);
    cluster.time.drain();
    expect(first.isClosed).to.equal(true);
    expect([isInstalled(), second.read.length]).to.deep.equal([true, frames.length]);
  });

  it("P25: an offer at or below the commit index, and one of a term that is over, are refused", () => {
    receiving();
    const { commitIndex } = own();
    const stale = leader.send([manifestOf(frames, { index: commitIndex })], false);
    const old = leader.send([manifestOf(frames, { term: leader.term - 1 })], false);
    cluster.time.drain();
    expect([stale.isClosed, old.isClosed]).to.deep.equal([true, true]);
    expect(marks).to.not.include("replica.install.begun");
  });

  it("a state sync in flight is waited for before it is placed, and nothing is applied meanwhile", () => {
    receiving((one) => {
      one.node(2).state.isHeld = true;
      putMany(one, 1);
      one.until("a sync is in flight", () => one.node(2).state.isSyncing);
    });
    leader.send(frames);
    cluster.time.drain();
    expect(marks).to.not.include("replica.install.placed");
    cluster.node(2).state.isHeld = false;
    cluster.node(2).state.finishSync();
    cluster.time.drain();
    expect(isInstalled()).to.equal(true);
  });

  it("applying goes on when a snapshot that waited for a sync is replaced by one that breaks", () => {
    receiving((one) => {
      one.node(2).state.isHeld = true;
      putMany(one, 1);
      one.until("a sync is in flight", () => one.node(2).state.isSyncing);
    });
    leader.send(frames);
    cluster.time.drain();
    const second = leader.send(frames.slice(0, 3), false);
    cluster.time.drain();
    second.break(new Error("the connection is lost"));
    cluster.time.drain();
    cluster.node(2).state.isHeld = false;
    cluster.node(2).state.finishSync();
    const { lastIndex } = own();
    leader.append(EntryType.Empty, lastIndex, lastTerm());
    cluster.advance(100);
    expect(own().appliedIndex).to.equal(lastIndex + 1);
  });

  it("a chunk with a row that is a store's own ends it, and nothing of it is kept", () => {
    receiving();
    const before = own().appliedIndex;
    const rows = [{ key: LOCAL_ROWS_FROM, value: Uint8Array.of(1) }];
    const chunk = { type: FrameType.SnapshotChunk, body: encodeChunk(0, rows) };
    const snapshot = leader.send([...frames.slice(0, 1), chunk, ...frames.slice(2)]);
    cluster.time.drain();
    expect(marks).to.include("replica.install.failed").and.not.include("replica.install.placed");
    expect([snapshot.isClosed, own().appliedIndex]).to.deep.equal([true, before]);
  });

  it("does not stand for election meanwhile, and does so again when the snapshot will not be had", () => {
    receiving();
    const snapshot = leader.send(frames.slice(0, 3), false);
    cluster.advance(3_000);
    expect(own().role).to.equal("follower");
    snapshot.break(new Error("the connection is lost"));
    cluster.advance(3_000);
    expect(own().role).to.equal("candidate");
  });

  it("does not begin once this member has stopped", () => {
    receiving();
    leader.send(frames.slice(0, 2), false);
    cluster.replica(2).stop();
    cluster.time.drain();
    expect(marks).to.not.include("replica.install.begun");
    expect(cluster.node(2).state.isReplacing).to.equal(false);
  });
});
