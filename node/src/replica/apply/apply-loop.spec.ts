import { expect } from "chai";
import { drainCore, FakeTime, leadingCore, MemoryDriverState, MemoryLogStore } from "../../../test/harness/index.ts";
import { listenToMarks } from "../../primitives/index.ts";
import { EntryType, encodeEntry, type RaftCore } from "../../raft/index.ts";
import { DEFAULT_STATE_LIMITS, encodeCommand, Payloads } from "../../state/index.ts";
import {
  type ApplyLimits,
  type Clock,
  ClusterTick,
  Compaction,
  DEFAULT_COMPACTION_LIMITS,
  ReplicaStatistics,
} from "../context/index.ts";
import { type AppliedEntry, ApplyLoop, type ApplyLoopContext } from "./apply-loop.ts";

const TICK = encodeCommand({ principal: null, request: null, operation: { kind: "tick" } });
/** An entry with enough events for several steps. */
const BATCH = encodeCommand({
  principal: { subject: "somebody", apiKeyId: "" },
  request: null,
  operation: {
    kind: "append-events",
    logId: new Uint8Array(16),
    isBatch: true,
    idempotencyKey: "k",
    payloads: new Payloads(new Uint8Array(0), new Uint32Array(70_001)),
    expectedSequence: undefined,
  },
});
const LIMITS: ApplyLimits = {
  sliceEntries: 512,
  sliceBytes: 1e6,
  sliceMs: 4,
  longEntryBytes: 65_536,
  longEntryMs: 4,
  syncBytes: 1e6,
  syncMs: 5_000,
};

describe("ApplyLoop", () => {
  let time: FakeTime;
  let log: MemoryLogStore;
  let core: RaftCore;
  let state: MemoryDriverState;
  let tick: ClusterTick;
  let slices: (readonly AppliedEntry[])[];
  let rests: number;
  /** How often `onDurable` was called. */
  let durables: number;
  let diverged: string[];
  let onDiverged: () => void;
  let marks: string[];
  let isWaiting: boolean;
  beforeEach(() => {
    time = new FakeTime();
    log = new MemoryLogStore(time);
    core = leadingCore(log);
    state = new MemoryDriverState(time);
    tick = new ClusterTick(time, 0);
    slices = [];
    rests = 0;
    durables = 0;
    diverged = [];
    onDiverged = () => undefined;
    marks = [];
    isWaiting = false;
    listenToMarks((mark) => marks.push(mark));
  });
  afterEach(() => listenToMarks(null));

  /** A clock that advances by this much at every reading. */
  const slowClock = (milliseconds: number) => ({
    wallMs: () => time.wallMs(),
    monotonicMs: () => {
      time.stall(milliseconds);
      return time.monotonicMs();
    },
  });

  function newLoop(
    limits: Partial<ApplyLimits> = {},
    stateLimits = DEFAULT_STATE_LIMITS,
    clock: Clock = time,
  ): ApplyLoop {
    const compaction = { ...DEFAULT_COMPACTION_LIMITS, keptEntries: 0, dueEntries: 1 };
    const context: ApplyLoopContext = {
      statistics: new ReplicaStatistics(),
      memberId: 1,
      boot: 3,
      core,
      log,
      state,
      limits: { ...LIMITS, ...limits, state: stateLimits },
      tick,
      clock,
      scheduler: time,
      onDiverged: (reason) => {
        diverged.push(reason);
        onDiverged();
      },
    };
    return new ApplyLoop(context, {
      compaction: new Compaction(compaction, 1, 0, 0.5),
      durableApplied: 0,
      neededFrom: () => Number.POSITIVE_INFINITY,
      onApplied: (entries) => slices.push(entries),
      onDurable: () => durables++,
      onRest: () => rests++,
      isWaiting: () => isWaiting,
    });
  }

  /** Commits this many entries, with these attempts in them, and lets the loop apply them. */
  function commit(loop: ApplyLoop, origins: readonly { memberId: number; boot: number; seq: number }[]): void {
    core.propose(origins.map((origin) => encodeEntry(EntryType.Command, { tickMs: 700, wallMs: 0, origin }, TICK)));
    loop.applyUpTo(drainCore(core, log) || 1);
  }

  /** The same for entries with these payloads. */
  function commitPayloads(loop: ApplyLoop, payloads: readonly Uint8Array[]): void {
    const envelope = { tickMs: 700, wallMs: 0, origin: { memberId: 1, boot: 3, seq: 9 } };
    core.propose(payloads.map((payload) => encodeEntry(EntryType.Command, envelope, payload)));
    loop.applyUpTo(drainCore(core, log) || 1);
  }

  const attempts = (count: number) => Array.from({ length: count }, (_, at) => ({ memberId: 1, boot: 3, seq: at + 1 }));
  const sizes = (): number[] => slices.map((entries) => entries.length);

  it("P56: reports for each entry which attempt of this process it is, if it is one", () => {
    const loop = newLoop();
    commit(loop, [
      { memberId: 1, boot: 3, seq: 5 },
      { memberId: 1, boot: 2, seq: 6 },
      { memberId: 2, boot: 3, seq: 7 },
    ]);
    time.drain();
    expect(slices.flat().map(({ seq }) => seq)).to.deep.equal([0, 5, 0, 0]);
    expect(loop.progress.appliedIndex).to.equal(4);
    expect(tick.nowMs, "ticks of entries are known").to.equal(700);
  });

  it("lets the leader know at once that a caller waits for what is committed, and a second later that none does", () => {
    const loop = newLoop();
    const told: boolean[] = [];
    core.setHasWaiters = (isWatched) => told.push(isWatched);
    const tickAfter = (milliseconds: number) => {
      time.stall(milliseconds);
      loop.onTick(time.monotonicMs());
    };
    time.stall(5_000);
    loop.onTick(time.monotonicMs());
    const stop = loop.observe(() => undefined);
    tickAfter(5_000);
    stop();
    tickAfter(900);
    tickAfter(200);
    isWaiting = true;
    tickAfter(50);
    isWaiting = false;
    tickAfter(900);
    tickAfter(200);
    expect(told).to.deep.equal([false, true, true, true, false, true, true, false]);
  });

  it("S44: applies in slices bounded by count and by bytes, one batch and one turn each", () => {
    const loop = newLoop({ sliceEntries: 3 });
    commit(loop, attempts(6));
    time.turn();
    expect(sizes()).to.deep.equal([3]);
    time.drain();
    expect([sizes(), state.batches]).to.deep.equal([[3, 3, 1], 3]);
    const bytes = newLoop({ sliceBytes: 1 });
    commit(bytes, attempts(2));
    slices = [];
    time.drain();
    expect(sizes()).to.deep.equal([1, 1]);
  });

  it("P59: waits for a store that would block, and looks again with the next tick", () => {
    const loop = newLoop();
    state.isStalled = true;
    commit(loop, attempts(2));
    time.drain();
    loop.onTick(time.monotonicMs());
    time.drain();
    expect(sizes()).to.deep.equal([]);
    state.isStalled = false;
    loop.onTick(time.monotonicMs());
    time.drain();
    expect(sizes()).to.deep.equal([3]);
  });

  it("applies nothing while a sync is in flight, and shortens the log when it is done", () => {
    const loop = newLoop({ syncBytes: 1 });
    state.isHeld = true;
    commit(loop, attempts(2));
    time.drain();
    expect([sizes(), state.isSyncing]).to.deep.equal([[3], true]);
    commit(loop, attempts(2));
    time.drain();
    expect(sizes()).to.deep.equal([3]);
    expect(core.firstIndex).to.equal(1);
    state.isHeld = false;
    state.finishSync();
    time.drain();
    expect(sizes()).to.deep.equal([3, 2]);
    expect(core.firstIndex).to.equal(6);
  });

  it("makes what little was applied durable after a while", () => {
    const loop = newLoop();
    commit(loop, attempts(1));
    time.drain();
    time.stall(4_999);
    loop.onTick(time.monotonicMs());
    expect(state.syncs).to.equal(0);
    time.stall(1);
    loop.onTick(time.monotonicMs());
    time.drain();
    expect(state.syncs).to.equal(1);
    time.stall(10_000);
    loop.onTick(time.monotonicMs());
    expect(state.syncs, "nothing is new").to.equal(1);
  });

  it("comes to rest when no sync is in flight, reports it, and continues when it is resumed", () => {
    const loop = newLoop({ syncBytes: 1 });
    state.isHeld = true;
    commit(loop, attempts(1));
    time.drain();
    loop.rest();
    commit(loop, attempts(1));
    expect([loop.isAtRest, rests]).to.deep.equal([false, 0]);
    state.finishSync();
    time.drain();
    expect([loop.isAtRest, rests, sizes()]).to.deep.equal([true, 1, [2]]);
    expect(core.firstIndex, "the log stays as it is").to.equal(1);
    loop.resume();
    time.drain();
    expect([loop.isAtRest, sizes()]).to.deep.equal([false, [2, 1]]);
  });

  it("calls its observers when a slice can be read, after the callers that wait for its answers", () => {
    const loop = newLoop({ sliceEntries: 2 });
    const seen: string[] = [];
    const stop = loop.observe(() => seen.push(`${loop.progress.appliedIndex} after ${slices.length}`));
    loop.observe(() => seen.push("another"));
    commit(loop, attempts(2));
    time.drain();
    expect(seen).to.deep.equal(["2 after 1", "another", "3 after 2", "another"]);
    stop();
    commit(loop, attempts(1));
    time.drain();
    expect(seen.slice(4)).to.deep.equal(["another"]);
  });

  it("does nothing once it is stopped, also when a sync is done afterwards: the stores may be closed", () => {
    const loop = newLoop({ syncBytes: 1 });
    state.isHeld = true;
    commit(loop, attempts(2));
    time.drain();
    loop.stop();
    commit(loop, attempts(2));
    state.finishSync();
    time.drain();
    expect(sizes()).to.deep.equal([3]);
    expect(marks).to.not.include("replica.compacted");
  });

  it("P44: neither writes nor reports anything of a slice that shows that the state differs from the cluster's", () => {
    const loop = newLoop({}, { ...DEFAULT_STATE_LIMITS, checkpointEntries: 1 });
    commit(loop, attempts(1));
    time.drain();
    const operation = { kind: "check-digest", index: 2, digest: (loop.progress.digest ^ 1) >>> 0 } as const;
    const check = encodeCommand({ principal: null, request: null, operation });
    const envelope = { tickMs: 700, wallMs: 0, origin: { memberId: 1, boot: 3, seq: 2 } };
    core.propose([TICK, check, TICK].map((payload) => encodeEntry(EntryType.Command, envelope, payload)));
    const { batches } = state;
    onDiverged = () => loop.stop();
    loop.applyUpTo(drainCore(core, log) || 1);
    time.drain();
    loop.onTick(time.monotonicMs());
    time.drain();
    expect(diverged).to.have.length(1);
    expect(diverged[0]).to.match(/^at log index 2 the state of this member had the digest/);
    expect([state.batches, sizes(), loop.progress.appliedIndex]).to.deep.equal([batches, [2], 2]);
  });

  it("makes the state durable on request, and once more if another request comes meanwhile", () => {
    const loop = newLoop({ syncBytes: 1e9, syncMs: 1e9 });
    commit(loop, [{ memberId: 1, boot: 3, seq: 1 }]);
    time.drain();
    state.isHeld = true;
    loop.makeDurable();
    expect([state.syncs, durables]).to.deep.equal([1, 0]);
    loop.makeDurable();
    expect(state.syncs, "one at a time").to.equal(1);
    state.finishSync();
    expect(durables).to.equal(1);
    loop.onTick(time.monotonicMs());
    expect(state.syncs).to.equal(2);
    state.finishSync();
    expect(durables).to.equal(2);
    loop.onTick(time.monotonicMs());
    expect(state.syncs, "nothing is wanted any more").to.equal(2);
  });

  describe("with an entry of very many events", () => {
    /** A loop that takes one step a turn, and that has applied everything before the batch. */
    function begun(): ApplyLoop {
      const loop = newLoop({}, DEFAULT_STATE_LIMITS, slowClock(5));
      commit(loop, attempts(1));
      time.drain();
      slices = [];
      return loop;
    }

    it("S44: applies it over several turns as a batch of its own, between those before and behind it", () => {
      const loop = newLoop({}, DEFAULT_STATE_LIMITS, slowClock(1));
      commitPayloads(loop, [TICK, BATCH, TICK, TICK]);
      time.turn();
      expect([sizes(), loop.progress.appliedIndex]).to.deep.equal([[2], 2]);
      let turns = 0;
      while (loop.progress.appliedIndex === 2) {
        turns++;
        time.turn();
      }
      expect(turns).to.be.above(1);
      expect(sizes()).to.deep.equal([2, 1]);
      expect(slices[1]?.[0]).to.include({ seq: 9 });
      expect(slices[1]?.[0]?.outcome?.answer).to.include({ code: "UNAUTHENTICATED" });
      time.drain();
      expect([sizes(), state.batches]).to.deep.equal([[2, 1, 2], 3]);
      expect(core.appliedIndex).to.equal(5);
    });

    it("comes to the same state, however many turns it takes", () => {
      const digests = [0, 1, 5].map((milliseconds) => {
        log = new MemoryLogStore(time);
        core = leadingCore(log);
        state = new MemoryDriverState(time);
        const loop = newLoop({}, DEFAULT_STATE_LIMITS, slowClock(milliseconds));
        commitPayloads(loop, [TICK, BATCH, BATCH, TICK]);
        time.drain();
        return [loop.progress.appliedIndex, loop.progress.digest];
      });
      expect(digests[0]?.[0]).to.equal(5);
      expect(digests[1]).to.deep.equal(digests[0]);
      expect(digests[2]).to.deep.equal(digests[0]);
    });

    it("completes it before it comes to rest, and makes nothing durable before", () => {
      const loop = begun();
      commitPayloads(loop, [BATCH, TICK]);
      time.turn();
      const { syncs } = state;
      loop.makeDurable();
      time.stall(10_000);
      loop.onTick(time.monotonicMs());
      expect(state.syncs).to.equal(syncs);
      loop.rest();
      expect(loop.isAtRest).to.equal(false);
      time.drain();
      expect([loop.isAtRest, rests, sizes()]).to.deep.equal([true, 1, [1]]);
      loop.resume();
      time.drain();
      loop.onTick(time.monotonicMs());
      time.drain();
      expect([rests, sizes(), state.syncs]).to.deep.equal([1, [1, 1], syncs + 1]);
    });

    it("P59: waits with it for a store that would block", () => {
      const loop = begun();
      commitPayloads(loop, [BATCH]);
      time.turn();
      state.isStalled = true;
      time.drain();
      expect(sizes()).to.deep.equal([]);
      state.isStalled = false;
      loop.onTick(time.monotonicMs());
      time.drain();
      expect(sizes()).to.deep.equal([1]);
    });

    it("leaves it incomplete once it is stopped", () => {
      const loop = begun();
      const { batches } = state;
      commitPayloads(loop, [BATCH]);
      time.turn();
      loop.stop();
      time.drain();
      expect([sizes(), state.batches]).to.deep.equal([[], batches]);
    });
  });
});
