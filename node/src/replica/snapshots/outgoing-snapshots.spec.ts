import { createHash } from "node:crypto";
import { expect } from "chai";
import {
  drainCore,
  FakeTime,
  follow,
  leadingCore,
  MemoryDriverState,
  ScriptedTransport,
} from "../../../test/harness/index.ts";
import { decodeChunk, decodeManifest, decodeTrailer, type Frame, FrameType } from "../../peers/index.ts";
import type { RaftCore } from "../../raft/index.ts";
import { ReadAllowance, ReplicaStatistics, type SnapshotLimits } from "../context/index.ts";
import { OutgoingSnapshots } from "./outgoing-snapshots.ts";

const ABOUT = { clusterId: "0d0c8c9e-6e0e-4f0f-9b7a-3a1d6d0f2a11", term: 5, index: 1, entryTerm: 5, clusterVersion: 1 };
const LIMITS: SnapshotLimits = { chunkBytes: 100, streamsMax: 2, bytesPerSecond: 1e9, streamMs: 60_000 };
const TICK_MS = 50;
const ROWS = 20;
const VALUE_BYTES = 50;

describe("OutgoingSnapshots", () => {
  let time: FakeTime;
  let transport: ScriptedTransport;
  let state: MemoryDriverState;
  let core: RaftCore;
  beforeEach(() => {
    time = new FakeTime();
    transport = new ScriptedTransport(time);
    state = new MemoryDriverState(time);
    core = leadingCore(null, [1, 2, 3, 4]);
    const accepted = { refused: false, hintIndex: 0, hintTerm: 0, busy: "no", commit: 0 } as const;
    for (const from of [2, 3]) {
      core.step({ type: "append-reply", from, to: 1, term: 5, index: 1, ...accepted });
    }
    core.onApplied(drainCore(core), 0);
    state.write(
      Array.from({ length: ROWS }, (_, at) => ({
        key: Uint8Array.of(1, at),
        value: new Uint8Array(VALUE_BYTES).fill(at),
      })),
    );
  });

  function newSnapshots(limits: Partial<SnapshotLimits> = {}): OutgoingSnapshots {
    const arm = (): void => undefined;
    const all = { ...LIMITS, ...limits };
    const context = {
      core,
      state,
      transport,
      clock: time,
      scheduler: time,
      arm,
      statistics: new ReplicaStatistics(),
      limits: { snapshots: all },
    };
    return new OutgoingSnapshots(context, new ReadAllowance(all.bytesPerSecond, time.monotonicMs()));
  }

  /** Reads the snapshot to its end as fast as it comes, and fills in what it reads. */
  function reading(at = 0): { readonly frames: Frame[]; end: Error | "whole" | null } {
    const result = { frames: [] as Frame[], end: null as Error | "whole" | null };
    const next = (): void => {
      transport.snapshots[at]?.incoming.read((error, frame) => {
        if (error !== null || frame === null) {
          result.end = error ?? "whole";
          return;
        }
        result.frames.push(frame);
        next();
      });
    };
    next();
    return result;
  }

  it("sends a manifest, chunks in their order, and a trailer by which the receiver knows that it has them all", () => {
    const snapshots = newSnapshots();
    snapshots.start(2, () => ABOUT);
    const { frames } = reading();
    time.drain();
    const manifest = frames.shift() as Frame;
    const trailer = frames.pop() as Frame;
    expect(decodeManifest(manifest.body)).to.deep.equal({ ...ABOUT, format: 1 });
    expect(frames.every(({ type }) => type === FrameType.SnapshotChunk)).to.equal(true);
    const chunks = frames.map(({ body }) => decodeChunk(body));
    expect(chunks.map(({ number }) => number)).to.deep.equal(chunks.map((_, at) => at));
    const rows = chunks.flatMap((chunk) => chunk.rows);
    expect(rows.map(({ key }) => key[1])).to.deep.equal(Array.from({ length: ROWS }, (_, at) => at));
    const digest = createHash("sha256");
    for (const { body } of frames) {
      digest.update(body);
    }
    expect(decodeTrailer(trailer.body)).to.deep.equal({
      chunks: chunks.length,
      rows: ROWS,
      sha256: digest.digest("hex"),
    });
    expect([state.openViews, snapshots.neededFrom]).to.deep.equal([0, Number.POSITIVE_INFINITY]);
  });

  it("reads one consistent view, whatever is written meanwhile", () => {
    newSnapshots().start(2, () => ABOUT);
    const { frames } = reading();
    time.turn();
    state.write([{ key: Uint8Array.of(1, ROWS - 1), value: Uint8Array.of(99) }]);
    state.write([{ key: Uint8Array.of(1, ROWS), value: Uint8Array.of(99) }]);
    time.drain();
    const rows = frames
      .filter(({ type }) => type === FrameType.SnapshotChunk)
      .flatMap(({ body }) => decodeChunk(body).rows);
    expect(rows.map(({ value }) => value.length)).to.deep.equal(Array(ROWS).fill(VALUE_BYTES));
  });

  it("S44: takes a turn for each chunk, and waits for the receiver", () => {
    newSnapshots().start(2, () => ABOUT);
    time.drain();
    expect(transport.snapshots[0]?.read).to.deep.equal([]);
    const { frames } = reading();
    let turns = 0;
    for (; time.isArmed; turns++) {
      time.turn();
    }
    expect(turns).to.be.greaterThan(frames.length);
  });

  it("sends all streams together no faster than it may", () => {
    const bytesPerSecond = 400;
    const snapshots = newSnapshots({ bytesPerSecond });
    snapshots.start(2, () => ABOUT);
    snapshots.start(3, () => ABOUT);
    const both = [reading(0), reading(1)];
    const startMs = time.monotonicMs();
    while (both.some(({ end }) => end === null)) {
      time.drain();
      const bytes = both
        .flatMap(({ frames }) => frames)
        .reduce((sum, { type, body }) => {
          return sum + (type === FrameType.SnapshotChunk ? body.length : 0);
        }, 0);
      const passedMs = time.monotonicMs() - startMs;
      // The allowance of one second may leave at once, plus one chunk of each stream.
      expect(bytes).to.be.at.most(bytesPerSecond * (1 + passedMs / 1_000) + 400);
      time.stall(TICK_MS);
      snapshots.onTick(time.monotonicMs());
      expect(passedMs).to.be.lessThan(20_000);
    }
    expect(both.map(({ end }) => end)).to.deep.equal(["whole", "whole"]);
    expect(time.monotonicMs() - startMs).to.be.greaterThan(3_000);
  });

  it("sends no more than so many at a time, and one to each member", () => {
    const snapshots = newSnapshots();
    for (const peer of [2, 2, 3, 4]) {
      snapshots.start(peer, () => ABOUT);
    }
    expect(transport.snapshots.map(({ to }) => to)).to.deep.equal([2, 3]);
    reading(0);
    time.drain();
    snapshots.start(4, () => ABOUT);
    expect(transport.snapshots.map(({ to }) => to)).to.deep.equal([2, 3, 4]);
  });

  it("starts nothing towards a member that is not connected", () => {
    transport.away.add(2);
    newSnapshots().start(2, () => expect.fail("nothing is to be said about a state that is not sent"));
    expect([transport.snapshots.length, state.openViews]).to.deep.equal([0, 0]);
  });

  it("P27: names the first entry that the receivers need behind what they are being sent", () => {
    const snapshots = newSnapshots();
    expect(snapshots.neededFrom).to.equal(Number.POSITIVE_INFINITY);
    snapshots.start(2, () => ABOUT);
    expect(snapshots.neededFrom).to.equal(2);
    snapshots.abort();
    expect(snapshots.neededFrom).to.equal(Number.POSITIVE_INFINITY);
  });

  const ends: readonly (readonly [string, (snapshots: OutgoingSnapshots) => void])[] = [
    ["takes longer than it may", () => time.stall(LIMITS.streamMs + 1)],
    ["is of a leader that is none any more", () => follow(core, 3, 6)],
    ["is to somebody who is no member", () => undefined],
    ["is broken", () => transport.snapshots[0]?.break(new Error("the connection is lost"))],
    ["reads a state that is no more", (snapshots) => snapshots.abort()],
  ];
  for (const [name, happens] of ends) {
    it(`one that ${name} ends, and lets go of its view`, () => {
      const snapshots = newSnapshots();
      snapshots.start(name === "is to somebody who is no member" ? 9 : 2, () => ABOUT);
      time.drain();
      snapshots.onTick(time.monotonicMs());
      happens(snapshots);
      time.drain();
      snapshots.onTick(time.monotonicMs());
      expect([state.openViews, transport.snapshots[0]?.isAborted]).to.deep.equal([0, true]);
      expect(snapshots.neededFrom).to.equal(Number.POSITIVE_INFINITY);
    });
  }
});
