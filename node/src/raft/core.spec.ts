import { crc32 } from "node:zlib";
import { expect } from "chai";
import { FIT, StoredLog } from "../../verify/scenarios/index.ts";
import { InvariantViolation, listenToMarks } from "../primitives/index.ts";
import { NO_CONFIGURATION } from "./configuration.ts";
import { type CoreOptions, RaftCore } from "./core.ts";
import { EntryType, encodeEntry, entryIndex, entryTerm, entryType, isIntactEntry, NO_ENVELOPE } from "./entry.ts";
import { type CoreLimits, DEFAULT_CORE_LIMITS } from "./limits.ts";

const ID = 1;
const ROW_BYTES = 64;

function command(bytes = 0): Uint8Array {
  return encodeEntry(EntryType.Command, NO_ENVELOPE, new Uint8Array(bytes));
}

/** The founding entry of term 1, with which every log begins. */
function founded(): StoredLog {
  return new StoredLog().add(EntryType.Bootstrap, 1);
}

/** A core restored from the disk; by default the founder, with everything committed and applied. */
function restore(disk: StoredLog, options: Partial<CoreOptions> = {}): RaftCore {
  const last = disk.rows.length;
  return new RaftCore({
    id: ID,
    boot: 1,
    term: disk.term(last),
    vote: ID,
    commit: last,
    log: { first: 1, prevTerm: 0, last, lastTerm: disk.term(last) },
    configuration: { ...NO_CONFIGURATION, index: 1, voters: [ID] },
    applied: last,
    writeSeq: 10,
    limits: DEFAULT_CORE_LIMITS,
    random: () => 0,
    reader: disk,
    checksum: crc32,
    ...options,
  });
}

/** Drains, and acknowledges each write, until nothing is left to write. */
function settle(core: RaftCore): void {
  for (let { append } = core.drain(true); append !== null; { append } = core.drain(true)) {
    core.onAppendDurable(append.writeSeq);
  }
}

/** A leader that has committed and applied the first entry of its term. */
function leader(options: Partial<CoreOptions> = {}, disk = founded()): RaftCore {
  const core = restore(disk, options);
  core.setEligibility(FIT);
  core.campaign();
  settle(core);
  applyAll(core);
  return core;
}

function applyAll(core: RaftCore): void {
  if (core.appliedIndex < core.commitIndex) {
    core.onApplied(core.commitIndex, ROW_BYTES * (core.commitIndex - core.appliedIndex));
  }
}

function limits(changes: Partial<CoreLimits>): { limits: CoreLimits } {
  return { limits: { ...DEFAULT_CORE_LIMITS, ...changes } };
}

function accepted(core: RaftCore, rows: readonly Uint8Array[]): void {
  expect(core.propose(rows)).to.have.property("firstIndex");
}

describe("the election of a sole voter", () => {
  it("does not happen before the member is known to be fit", () => {
    const core = restore(founded());
    expect(core.campaign()).to.equal(false);
    for (const fitness of [
      { ...FIT, mayVote: false },
      { ...FIT, mayLead: false },
    ]) {
      core.setEligibility(fitness);
      expect(core.campaign()).to.equal(false);
    }
    expect([core.role, core.term, core.drain(true).append]).to.deep.equal(["follower", 1, null]);
  });

  it("P4, P54: is won when the write of its own term and vote is durable, not before", () => {
    const core = restore(founded());
    core.setEligibility(FIT);
    expect(core.campaign()).to.equal(true);
    expect([core.role, core.term, core.leader]).to.deep.equal(["candidate", 2, 0]);
    const { append } = core.drain(true);
    expect(append).to.deep.equal({ writeSeq: 11, term: 2, vote: ID, commit: 1, from: 2, rows: [], resetTo: null });
    core.drain(false);
    expect(core.role).to.equal("candidate");
    core.onAppendDurable(11);
    expect([core.role, core.term, core.leader]).to.deep.equal(["leader", 2, ID]);
  });

  it("P54: is not won by a write from before the vote", () => {
    const core = leader();
    accepted(core, [command()]);
    const earlier = core.drain(true).append?.writeSeq ?? 0;
    core.setEligibility({ ...FIT, mayLead: false });
    core.setEligibility(FIT);
    core.campaign();
    core.onAppendDurable(earlier);
    expect([core.role, core.term]).to.deep.equal(["candidate", 3]);
    const { append } = core.drain(true);
    expect([append?.term, append?.vote]).to.deep.equal([3, ID]);
    core.onAppendDurable(append?.writeSeq ?? 0);
    expect([core.role, core.term]).to.deep.equal(["leader", 3]);
  });

  it("P54: waits for its own vote however slow the disk is, instead of entering one term after the other", () => {
    const core = restore(founded());
    core.setEligibility(FIT);
    core.campaign();
    const first = core.drain(true).append?.writeSeq ?? 0;
    for (let tick = 0; tick < 200; tick++) {
      core.tick();
    }
    expect(core.campaign()).to.equal(false);
    expect([core.role, core.term]).to.deep.equal(["candidate", 2]);
    core.onAppendDurable(first);
    expect([core.role, core.term]).to.deep.equal(["leader", 2]);
  });

  it("P6: is followed by an empty entry of the new term", () => {
    const core = restore(founded());
    core.setEligibility(FIT);
    core.campaign();
    core.onAppendDurable(core.drain(true).append?.writeSeq ?? 0);
    expect(core.hasCommittedInTerm).to.equal(false);
    const { append } = core.drain(true);
    const [row] = append?.rows ?? [];
    expect(append?.rows.length).to.equal(1);
    expect([entryType(row as Uint8Array), entryTerm(row as Uint8Array), entryIndex(row as Uint8Array)]).to.deep.equal([
      EntryType.Empty,
      2,
      2,
    ]);
    expect(isIntactEntry(row as Uint8Array, crc32)).to.equal(true);
    core.onAppendDurable(append?.writeSeq ?? 0);
    expect([core.hasCommittedInTerm, core.commitIndex]).to.deep.equal([true, 2]);
  });

  it("is for voters only", () => {
    for (const voters of [[], [2], [2, 3, 4]]) {
      const core = restore(founded(), { configuration: { ...NO_CONFIGURATION, index: 1, voters } });
      core.setEligibility(FIT);
      expect(core.campaign(), JSON.stringify(voters)).to.equal(false);
    }
  });

  it("is not won with only the own vote among several, and nothing commits", () => {
    for (const voters of [
      [1, 2],
      [1, 2, 3],
    ]) {
      const core = restore(founded(), { configuration: { ...NO_CONFIGURATION, index: 1, voters } });
      core.setEligibility(FIT);
      expect(core.campaign()).to.equal(true);
      settle(core);
      expect([core.role, core.commitIndex], JSON.stringify(voters)).to.deep.equal(["candidate", 1]);
    }
  });

  it("P15: waits while a configuration is committed but not applied", () => {
    const passed: string[] = [];
    const disk = founded().add(EntryType.Empty, 1).add(EntryType.Bootstrap, 1).add(EntryType.Empty, 1);
    const core = restore(disk, { applied: 1, configuration: { ...NO_CONFIGURATION, index: 1, voters: [ID] } });
    core.setEligibility(FIT);
    listenToMarks((name) => passed.push(name));
    try {
      expect(core.campaign()).to.equal(false);
    } finally {
      listenToMarks(null);
    }
    expect(passed).to.deep.equal(["raft.campaign.unapplied-configuration"]);
    expect([core.role, core.term]).to.deep.equal(["follower", 1]);
    core.drain(true);
    core.onApplied(3, 0);
    expect(core.campaign()).to.equal(true);
  });

  it("P15: does not wait for a configuration that is not known as committed", () => {
    const core = restore(founded().add(EntryType.Bootstrap, 1), { commit: 1, applied: 1 });
    core.setEligibility(FIT);
    expect(core.campaign()).to.equal(true);
  });

  it("is possible as soon as the founding entry is applied", () => {
    const core = restore(founded(), { applied: 0, configuration: NO_CONFIGURATION });
    core.setEligibility(FIT);
    expect(core.campaign()).to.equal(false);
    expect(core.drain(true).apply).to.deep.equal({ from: 1, to: 1 });
    expect(core.drain(true).role).to.equal(null);
    expect(core.applyConfiguration(1, { type: "bootstrap" }, 0)).to.deep.equal({
      ...NO_CONFIGURATION,
      index: 1,
      voters: [1],
    });
    core.onApplied(1, ROW_BYTES);
    expect(core.drain(true).role, "reports that it may now be elected").to.deep.equal({
      role: "follower",
      term: 1,
      leader: 0,
    });
    expect(core.campaign()).to.equal(true);
  });
});

describe("the election timer", () => {
  /** Ticks until the term grows. */
  function ticksToCampaign(core: RaftCore): number {
    const { term } = core;
    let ticks = 0;
    while (core.term === term && ticks < 1_000) {
      core.tick();
      ticks++;
    }
    return ticks;
  }

  it("P36: is drawn again, from the whole range, for each term", () => {
    const draws = [0, 3, 19, 7, 12];
    const asked: number[] = [];
    const core = restore(founded(), {
      random: (bound) => {
        asked.push(bound);
        return draws[(asked.length - 1) % draws.length] as number;
      },
    });
    core.setEligibility(FIT);
    expect(ticksToCampaign(core)).to.equal(20);
    const timeouts: number[] = [];
    for (let round = 0; round < 4; round++) {
      const drawnBefore = asked.length;
      settle(core);
      core.setEligibility({ ...FIT, mayLead: false });
      core.setEligibility(FIT);
      timeouts.push(ticksToCampaign(core));
      expect(asked.length).to.be.above(drawnBefore);
    }
    expect(new Set(timeouts).size).to.be.above(1);
    expect(asked.every((bound) => bound === 20)).to.equal(true);
    expect(Math.min(...timeouts)).to.be.at.least(20);
    expect(Math.max(...timeouts)).to.be.below(40);
  });

  it("P36: is drawn again when a leader steps down", () => {
    let drawn = 0;
    const core = leader({ random: () => ++drawn % 20 });
    const before = drawn;
    core.setEligibility({ ...FIT, mayLead: false });
    expect(drawn).to.be.above(before);
  });

  it("restarts when a campaign is refused, so that it does not ask on every tick", () => {
    const passed: string[] = [];
    const core = restore(founded(), { configuration: { ...NO_CONFIGURATION, index: 1, voters: [2] } });
    core.setEligibility(FIT);
    listenToMarks((name) => passed.push(name));
    try {
      expect(ticksToCampaign(core)).to.equal(1_000);
    } finally {
      listenToMarks(null);
    }
    expect([core.role, passed]).to.deep.equal(["follower", []]);
  });

  it("does not run at a leader", () => {
    const core = leader();
    for (let ticks = 0; ticks < 100; ticks++) {
      core.tick();
    }
    expect([core.role, core.term]).to.deep.equal(["leader", 2]);
  });

  it("works at its smallest limits", () => {
    const core = restore(founded(), limits({ electionTicksMin: 1, electionTicksMax: 2 }));
    core.setEligibility(FIT);
    core.tick();
    expect(core.role).to.equal("candidate");
  });
});

describe("fitness", () => {
  it("lost by a leader ends its leadership, in the same term", () => {
    const core = leader();
    core.drain(true);
    core.setEligibility({ ...FIT, mayLead: false });
    expect([core.role, core.term, core.leader, core.hasCommittedInTerm]).to.deep.equal(["follower", 2, 0, false]);
    expect(core.drain(true).role).to.deep.equal({ role: "follower", term: 2, leader: 0 });
    expect(core.propose([command()])).to.equal("not-leader");
  });

  it("lost by a candidate ends its candidacy, also when its vote becomes durable later", () => {
    for (const fitness of [
      { ...FIT, mayLead: false },
      { ...FIT, mayVote: false },
      { ...FIT, mayVote: false, mayLead: false },
    ]) {
      const core = restore(founded());
      core.setEligibility(FIT);
      core.campaign();
      const { append } = core.drain(true);
      core.setEligibility(fitness);
      core.onAppendDurable(append?.writeSeq ?? 0);
      expect([core.role, core.leader], JSON.stringify(fitness)).to.deep.equal(["follower", 0]);
      expect(core.drain(true).append).to.equal(null);
    }
  });

  it("to vote, lost by a leader, leaves it leading: it has voted", () => {
    const core = leader();
    core.setEligibility({ ...FIT, mayVote: false });
    expect(core.role).to.equal("leader");
  });

  it("found again allows another election, of a new term", () => {
    const core = leader();
    core.setEligibility({ ...FIT, mayVote: false, mayLead: false });
    core.setEligibility(FIT);
    expect(core.role).to.equal("follower");
    core.campaign();
    settle(core);
    expect([core.role, core.term]).to.deep.equal(["leader", 3]);
  });
});

describe("proposals", () => {
  it("to any member but the leader are refused, and nothing is appended", () => {
    const core = restore(founded());
    expect(core.propose([command()])).to.equal("not-leader");
    core.setEligibility(FIT);
    core.campaign();
    expect(core.propose([command()])).to.equal("not-leader");
    expect(core.lastIndex).to.equal(1);
  });

  it("are appended together, sealed with term and index", () => {
    const core = leader();
    const rows = [command(1), command(2), command(3)];
    expect(core.propose(rows)).to.deep.equal({ term: 2, firstIndex: 3 });
    expect(rows.map((row) => [entryTerm(row), entryIndex(row), isIntactEntry(row, crc32)])).to.deep.equal([
      [2, 3, true],
      [2, 4, true],
      [2, 5, true],
    ]);
    expect(core.lastIndex).to.equal(5);
  });

  it("P4: are committed when they are on the own disk, not when they are appended or handed out", () => {
    const core = leader();
    accepted(core, [command()]);
    expect(core.commitIndex).to.equal(2);
    const { append, apply } = core.drain(true);
    expect([core.commitIndex, core.stableIndex, apply]).to.deep.equal([2, 2, null]);
    core.onAppendDurable(append?.writeSeq ?? 0);
    expect([core.commitIndex, core.stableIndex]).to.deep.equal([3, 3]);
    expect(core.drain(true).apply).to.deep.equal({ from: 3, to: 3 });
  });

  it("P5: of earlier terms are committed only with an entry of the own term", () => {
    const disk = founded().add(EntryType.Command, 1).add(EntryType.Command, 1);
    const core = restore(disk, { commit: 1, applied: 1 });
    core.setEligibility(FIT);
    core.campaign();
    core.onAppendDurable(core.drain(true).append?.writeSeq ?? 0);
    expect([core.role, core.stableIndex, core.commitIndex]).to.deep.equal(["leader", 3, 1]);
    const { append, apply } = core.drain(true);
    expect(apply).to.equal(null);
    core.onAppendDurable(append?.writeSeq ?? 0);
    expect(core.commitIndex).to.equal(4);
    expect(core.drain(true).apply).to.deep.equal({ from: 2, to: 4 });
  });

  it("are refused above the limit of uncommitted bytes, all or none, until others are committed", () => {
    const core = leader(limits({ uncommittedBytesMax: 3 * ROW_BYTES }));
    accepted(core, [command(), command()]);
    expect(core.propose([command(), command()])).to.equal("overloaded");
    expect(core.lastIndex).to.equal(4);
    accepted(core, [command()]);
    expect(core.propose([command()])).to.equal("overloaded");
    settle(core);
    accepted(core, [command(), command(), command()]);
  });

  it("larger than that limit pass alone, so that none waits for ever", () => {
    const core = leader(limits({ uncommittedBytesMax: 1 }));
    accepted(core, [command(1_000)]);
    expect(core.propose([command()])).to.equal("overloaded");
    settle(core);
    accepted(core, [command(1_000)]);
  });

  it("are refused above the limit of committed entries that are not applied", () => {
    const core = leader(limits({ unappliedEntriesMax: 2 }));
    accepted(core, [command(), command(), command()]);
    accepted(core, [command()]);
    settle(core);
    expect(core.commitIndex - core.appliedIndex).to.equal(4);
    expect(core.propose([command()])).to.equal("overloaded");
    core.onApplied(core.appliedIndex + 1, ROW_BYTES);
    expect(core.propose([command()])).to.equal("overloaded");
    core.onApplied(core.appliedIndex + 1, ROW_BYTES);
    accepted(core, [command()]);
  });

  it("are refused above the limit of committed bytes that are not applied", () => {
    const core = leader(limits({ unappliedBytesMax: 200 }));
    accepted(core, [command(100), command(100)]);
    settle(core);
    expect(core.propose([command()])).to.equal("overloaded");
    core.onApplied(core.appliedIndex + 1, 164);
    accepted(core, [command()]);
  });

  it("that are refused leave a mark", () => {
    const passed: string[] = [];
    const core = leader(limits({ uncommittedBytesMax: 1 }));
    accepted(core, [command()]);
    listenToMarks((name) => passed.push(name));
    try {
      core.propose([command()]);
    } finally {
      listenToMarks(null);
    }
    expect(passed).to.deep.equal(["raft.propose.overloaded"]);
  });

  it("without entries, or with others than commands, are a violation", () => {
    const core = leader();
    expect(() => core.propose([])).to.throw(InvariantViolation);
    for (const type of [EntryType.Empty, EntryType.Bootstrap]) {
      const rows = [command(), encodeEntry(type, NO_ENVELOPE, new Uint8Array(0))];
      expect(() => core.propose(rows)).to.throw(InvariantViolation, "only commands");
    }
    expect(core.lastIndex).to.equal(2);
  });
});

describe("writes", () => {
  it("go out one at a time, and collect later changes", () => {
    const core = leader();
    accepted(core, [command()]);
    const first = core.drain(true).append;
    expect([first?.from, first?.rows.length]).to.deep.equal([3, 1]);
    accepted(core, [command()]);
    accepted(core, [command(), command()]);
    expect(core.drain(false).append).to.equal(null);
    core.onAppendDurable(first?.writeSeq ?? 0);
    const second = core.drain(true).append;
    expect([second?.from, second?.rows.map(entryIndex)]).to.deep.equal([4, [4, 5, 6]]);
    expect(second?.writeSeq).to.be.above(first?.writeSeq ?? 0);
    expect(() => core.drain(true), "nothing is left to write").not.to.throw();
  });

  it("are not asked for while one is in flight", () => {
    const core = leader();
    accepted(core, [command()]);
    core.drain(true);
    accepted(core, [command()]);
    expect(() => core.drain(true)).to.throw(InvariantViolation, "one write");
  });

  it("carry term and vote, and the commit index as far as the log holds it", () => {
    const core = leader();
    accepted(core, [command()]);
    const first = core.drain(true).append;
    expect([first?.term, first?.vote, first?.commit]).to.deep.equal([2, ID, 2]);
    core.onAppendDurable(first?.writeSeq ?? 0);
    accepted(core, [command()]);
    expect(core.drain(true).append?.commit).to.equal(3);
  });

  it("are not made for a new commit index alone", () => {
    const core = leader();
    accepted(core, [command()]);
    const { append } = core.drain(true);
    core.onAppendDurable(append?.writeSeq ?? 0);
    expect(core.commitIndex).to.equal(3);
    expect(core.drain(true).append).to.equal(null);
  });

  it("are acknowledged once, in order", () => {
    const core = leader();
    expect(() => core.onAppendDurable(1)).to.throw(InvariantViolation);
    accepted(core, [command()]);
    const { append } = core.drain(true);
    const writeSeq = append?.writeSeq ?? 0;
    expect(() => core.onAppendDurable(writeSeq + 1)).to.throw(InvariantViolation);
    expect(() => core.onAppendDurable(writeSeq - 1)).to.throw(InvariantViolation);
    core.onAppendDurable(writeSeq);
    expect(() => core.onAppendDurable(writeSeq)).to.throw(InvariantViolation);
    expect(() => core.onAppendDurable(0)).to.throw(InvariantViolation);
  });
});

describe("applying", () => {
  it("is requested once, in order", () => {
    const core = leader();
    const handedOut: unknown[] = [];
    for (const count of [1, 3]) {
      accepted(
        core,
        Array.from({ length: count }, () => command()),
      );
      core.onAppendDurable(core.drain(true).append?.writeSeq ?? 0);
      handedOut.push(core.drain(true).apply, core.drain(true).apply);
    }
    expect(handedOut).to.deep.equal([{ from: 3, to: 3 }, null, { from: 4, to: 6 }, null]);
  });

  it("is requested at the start, for entries known as committed, before any election", () => {
    const disk = founded().add(EntryType.Command, 1).add(EntryType.Command, 1);
    const core = restore(disk, { commit: 2, applied: 1 });
    expect(core.drain(true).apply).to.deep.equal({ from: 2, to: 2 });
    expect(core.entries(2, 2, 1_000)).to.deep.equal([disk.rows[1]]);
  });

  it("sees only entries that were handed out for it", () => {
    const core = leader();
    accepted(core, [command(), command()]);
    core.onAppendDurable(core.drain(true).append?.writeSeq ?? 0);
    expect(() => core.entries(3, 4, 1_000), "committed, but not drained").to.throw(InvariantViolation);
    expect(() => core.onApplied(3, ROW_BYTES)).to.throw(InvariantViolation);
    core.drain(true);
    expect(core.entries(3, 4, 1_000).map(entryIndex)).to.deep.equal([3, 4]);
    expect(core.entries(3, 4, 1).map(entryIndex)).to.deep.equal([3]);
  });

  it("is reported in order, once", () => {
    const core = leader();
    accepted(core, [command(), command(), command()]);
    settle(core);
    core.onApplied(4, 2 * ROW_BYTES);
    expect(core.appliedIndex).to.equal(4);
    expect(() => core.onApplied(4, 0)).to.throw(InvariantViolation);
    expect(() => core.onApplied(3, 0)).to.throw(InvariantViolation);
    expect(() => core.onApplied(6, 0)).to.throw(InvariantViolation);
    core.onApplied(5, ROW_BYTES);
  });

  it("of a configuration comes at its own place", () => {
    const core = restore(founded(), { applied: 0, configuration: NO_CONFIGURATION });
    expect(() => core.applyConfiguration(1, { type: "bootstrap" }, 0), "not handed out").to.throw(InvariantViolation);
    core.drain(true);
    core.applyConfiguration(1, { type: "bootstrap" }, 0);
    core.onApplied(1, ROW_BYTES);
    expect(() => core.applyConfiguration(1, { type: "bootstrap" }, 0)).to.throw(InvariantViolation);
    expect(core.configuration).to.deep.equal({ ...NO_CONFIGURATION, index: 1, voters: [1] });
  });

  it("comes before the log may be shortened", () => {
    const core = leader();
    accepted(core, [command(), command()]);
    settle(core);
    core.onApplied(3, ROW_BYTES);
    expect(() => core.onCompacted(5, 2)).to.throw(InvariantViolation, "only applied entries");
    core.onCompacted(4, 2);
    expect([core.firstIndex, core.lastIndex, core.entryTerm(3)]).to.deep.equal([4, 4, 2]);
  });
});

describe("linearizable reads", () => {
  it("are confirmed at once by a sole voter, at the commit index, all together", () => {
    const core = leader();
    expect([core.readIndex(), core.readIndex()]).to.deep.equal([1, 2]);
    expect(core.drain(true).reads).to.deep.equal({ position: 2, index: 2 });
    expect(core.drain(true).reads).to.equal(null);
  });

  it("P7: wait for the first entry of the leader's term to be committed", () => {
    const disk = founded().add(EntryType.Command, 1);
    const core = restore(disk, { commit: 1, applied: 1 });
    core.setEligibility(FIT);
    core.campaign();
    core.onAppendDurable(core.drain(true).append?.writeSeq ?? 0);
    const position = core.readIndex();
    const { append, reads } = core.drain(true);
    expect([reads, core.commitIndex], "entry 2 may have been answered before").to.deep.equal([null, 1]);
    core.onAppendDurable(append?.writeSeq ?? 0);
    expect(core.drain(true).reads).to.deep.equal({ position, index: 3 });
  });

  it("are lost without a leader, and get a new position when asked again (P9)", () => {
    const core = restore(founded());
    const first = core.readIndex();
    const second = core.readIndex();
    expect(core.drain(true).readsFailedUpTo).to.equal(second);
    expect(core.drain(true).readsFailedUpTo).to.equal(0);
    expect([first, second, core.readIndex()]).to.deep.equal([1, 2, 3]);
  });

  it("are lost when the leader steps down", () => {
    const core = leader();
    const position = core.readIndex();
    core.setEligibility({ ...FIT, mayLead: false });
    const { reads, readsFailedUpTo: readsLostUpTo } = core.drain(true);
    expect([reads, readsLostUpTo]).to.deep.equal([null, position]);
  });

  it("are lost when more wait than the limit", () => {
    const core = restore(founded(), limits({ readsMax: 1 }));
    core.setEligibility(FIT);
    core.campaign();
    core.onAppendDurable(core.drain(true).append?.writeSeq ?? 0);
    core.readIndex();
    core.readIndex();
    expect(core.drain(false).readsFailedUpTo).to.equal(2);
  });
});

describe("restoring", () => {
  const three = () => founded().add(EntryType.Command, 1).add(EntryType.Command, 2);
  for (const [name, options] of [
    ["P42: more applied than committed", { commit: 2, applied: 3 }],
    ["P46: more committed than the log holds", { commit: 4 }],
    ["an entry newer than the own term", { term: 1 }],
    ["a member without id", { id: 0 }],
    [
      "P58: a log that begins behind what is applied",
      { applied: 1, log: { first: 3, prevTerm: 1, last: 3, lastTerm: 2 } },
    ],
    ["a broken term", { term: 2.5 }],
  ] as const) {
    it(`refuses ${name}`, () => {
      expect(() => restore(three(), options)).to.throw(InvariantViolation);
    });
  }

  it("begins as a follower without a leader, and reports it", () => {
    const { role, append, apply, reads, readsFailedUpTo: readsLostUpTo } = restore(three()).drain(true);
    expect(role).to.deep.equal({ role: "follower", term: 2, leader: 0 });
    expect([append, apply, reads, readsLostUpTo]).to.deep.equal([null, null, null, 0]);
  });
});
