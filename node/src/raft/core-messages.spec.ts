import { crc32 } from "node:zlib";
import { expect } from "chai";
import { changeRow, FIT, StoredLog } from "../../verify/scenarios/index.ts";
import { InvariantViolation } from "../primitives/index.ts";
import { NO_CONFIGURATION } from "./configuration.ts";
import { type CoreOptions, type Effects, RaftCore } from "./core.ts";
import { EntryType, encodeEntry, entryIndex, NO_ENVELOPE, sealEntry } from "./entry.ts";
import { DEFAULT_CORE_LIMITS } from "./limits.ts";
import type { Append, Message } from "./message.ts";

const SELF = 1;
const ACCEPTED = { refused: false, hintIndex: 0, hintTerm: 0, busy: "no" } as const;
const THREE = { ...NO_CONFIGURATION, index: 1, voters: [1, 2, 3] };

/** A log with this many commands of term 1 after the founding entry. */
function stored(commands: number): StoredLog {
  const disk = new StoredLog().add(EntryType.Bootstrap, 1);
  for (let count = 0; count < commands; count++) {
    disk.add(EntryType.Command, 1);
  }
  return disk;
}

/** Member 1 of three, in term 1, with everything on its disk committed and applied. */
function start(disk = stored(2), options: Partial<CoreOptions> = {}): RaftCore {
  const core = new RaftCore({
    id: SELF,
    boot: 1,
    term: 1,
    vote: 0,
    commit: disk.last,
    log: disk.bounds,
    configuration: THREE,
    applied: disk.last,
    writeSeq: 0,
    limits: DEFAULT_CORE_LIMITS,
    random: () => 0,
    reader: disk,
    checksum: crc32,
    ...options,
  });
  core.setEligibility(FIT);
  return core;
}

/** Drains until the core is idle, with writes durable at once. Returns every message sent. */
function settle(core: RaftCore): Message[] {
  const messages: Message[] = [];
  let effects: Effects;
  do {
    effects = core.drain(true);
    messages.push(...effects.messages);
    if (effects.append !== null) {
      core.onAppendDurable(effects.append.writeSeq);
    }
  } while (effects.append !== null || effects.messages.length > 0);
  return messages;
}

function lead(core: RaftCore): Message[] {
  const term = core.term + 1;
  core.campaign();
  const answer = { from: 2, to: SELF, term, granted: true, commit: 0, commitTerm: 0 };
  core.step({ type: "pre-vote-reply", ...answer });
  settle(core);
  core.step({ type: "vote-reply", ...answer });
  expect(core.role).to.equal("leader");
  return settle(core);
}

function row(index: number, term: number): Uint8Array {
  const unsealed = encodeEntry(EntryType.Command, NO_ENVELOPE, new Uint8Array(0));
  sealEntry(unsealed, term, index, crc32);
  return unsealed;
}

function append(prevIndex: number, rows: readonly Uint8Array[], changes: Partial<Append> = {}): Append {
  return {
    type: "append",
    from: 2,
    to: SELF,
    term: 2,
    prevIndex,
    prevTerm: 1,
    commit: 0,
    wantsReply: true,
    rows,
    ...changes,
  };
}

function heartbeat(changes: object = {}): Message {
  return { type: "heartbeat", from: 2, to: SELF, term: 2, commit: 0, readPosition: 0, ...changes };
}

describe("messages that break the rules", () => {
  it("of two leaders in a term end the process", () => {
    const follower = start();
    follower.step(heartbeat());
    expect(() => follower.step(heartbeat({ from: 3 }))).to.throw(InvariantViolation, "one member leads a term");
    const leader = start();
    lead(leader);
    expect(() => leader.step(heartbeat({ term: leader.term }))).to.throw(InvariantViolation, "one member leads a term");
  });

  it("P29: that would change committed entries end the process", () => {
    const core = start(stored(4), { commit: 3, applied: 3 });
    const wrong = append(2, [row(3, 2)], { prevTerm: 1 });
    core.step(wrong);
    expect(core.lastIndex, "below the commit index nothing is even looked at").to.equal(5);
    core.step(append(3, [row(4, 2)]));
    expect([core.lastIndex, core.lastTerm], "above it the leader's entries count").to.deep.equal([4, 2]);
  });

  it("P51: with a commit index beyond their entries commit only those entries: later ones may be another leader's", () => {
    const core = start(stored(6), { commit: 3, applied: 3 });
    core.step(append(3, [row(4, 1)], { commit: 7 }));
    expect([core.lastIndex, core.commitIndex]).to.deep.equal([7, 4]);
    core.step(append(5, [], { commit: 7 }));
    expect([core.lastIndex, core.commitIndex]).to.deep.equal([7, 5]);
  });

  it("P30: with entries that are not dense, or newer than their leader, end the process", () => {
    expect(() => start().step(append(3, [row(5, 1)]))).to.throw(InvariantViolation, "follows what is there");
    expect(() => start().step(append(3, [row(4, 3)]))).to.throw(InvariantViolation, "newer than its leader");
    expect(() => start().step(append(3, [row(4, 2), row(5, 1)]))).to.throw(InvariantViolation, "terms never fall");
  });

  it("for others, or from oneself, are passed over", () => {
    const core = start();
    core.drain(true);
    core.step(heartbeat({ to: 3 }));
    core.step(heartbeat({ from: SELF }));
    expect([core.term, core.drain(true).messages]).to.deep.equal([1, []]);
  });
});

describe("the leader's log", () => {
  it("P30: that returns wrong entries ends the process instead of sending them", () => {
    const disk = stored(6);
    const faulty = {
      term: (index: number) => disk.term(index),
      entries: (from: number, to: number, maxBytes: number) => disk.entries(from + 1, to, maxBytes),
    };
    const core = start(disk, { reader: faulty });
    lead(core);
    core.step({
      type: "append-reply",
      from: 2,
      to: SELF,
      term: core.term,
      index: core.lastIndex - 1,
      refused: true,
      hintIndex: 2,
      hintTerm: 1,
      commit: 1,
      busy: "no",
    });
    expect(() => core.drain(true)).to.throw(InvariantViolation, "what is sent follows what is there");
  });

  it("P34: is not acknowledged beyond its end", () => {
    const core = start();
    lead(core);
    const reply = { type: "append-reply", from: 2, to: SELF, term: core.term, refused: false } as const;
    core.step({ ...reply, index: core.lastIndex + 5, hintIndex: 0, hintTerm: 0, commit: 1, busy: "no" });
    expect(core.peer(2)?.match).to.equal(0);
  });

  it("takes commands by propose and changes by proposeChange, each under its own type", () => {
    const core = start();
    lead(core);
    const leave = encodeEntry(EntryType.Leave, NO_ENVELOPE, new Uint8Array(0));
    expect(() => core.propose([leave])).to.throw(InvariantViolation, "only commands");
    const add = { type: "add-slot" } as const;
    expect(() => core.proposeChange(leave, add, 0, () => true)).to.throw(InvariantViolation, "entry of its type");
    expect(core.proposeChange(changeRow(add, 0), add, 0, () => true)).to.equal("change-in-progress");
  });
});

describe("an append that carries only the commit index", () => {
  const told = (changes: Partial<Append> = {}) => append(4, [], { commit: 4, wantsReply: false, ...changes });

  it("is not answered", () => {
    const core = start(stored(3), { commit: 3, applied: 3 });
    core.step(told());
    expect(settle(core)).to.deep.equal([]);
    expect(core.commitIndex).to.equal(4);
    core.step(told({ wantsReply: true }));
    expect(settle(core)).to.deep.include.members([
      { type: "append-reply", from: SELF, to: 2, term: 2, commit: 4, index: 4, ...ACCEPTED },
    ]);
    core.step(told({ prevIndex: 2, prevTerm: 1 }));
    expect(settle(core), "below the commit index").to.deep.equal([]);
  });

  it("is refused if the entry before it is missing", () => {
    const core = start(stored(2), { commit: 3, applied: 3 });
    core.step(told());
    expect(settle(core)).to.deep.equal([
      {
        type: "append-reply",
        from: SELF,
        to: 2,
        term: 2,
        commit: 3,
        ...ACCEPTED,
        index: 4,
        refused: true,
        hintIndex: 3,
        hintTerm: 1,
      },
    ]);
  });

  it("asks for an answer only while something is not known about the peer", () => {
    const core = start();
    lead(core);
    const reply = (index: number, commit: number): Message => {
      return { type: "append-reply", from: 2, to: SELF, term: core.term, index, commit, ...ACCEPTED };
    };
    const emptyToPeer = () => {
      const sent = settle(core).filter((message) => message.type === "append" && message.to === 2);
      expect(sent).to.have.lengthOf(1);
      const [only] = sent as Append[];
      expect(only?.rows).to.deep.equal([]);
      return only?.wantsReply;
    };
    core.step(reply(core.lastIndex, 0));
    expect(emptyToPeer(), "whether it knows that the configuration is committed (P18)").to.equal(true);
    core.step(reply(core.lastIndex, core.commitIndex));
    core.propose([row(0, 0)]);
    settle(core);
    core.step(reply(core.lastIndex, core.commitIndex));
    expect(emptyToPeer()).to.equal(false);
    core.propose([row(0, 0)]);
    settle(core);
    const answered = {
      from: 2,
      to: SELF,
      term: core.term,
      commit: core.commitIndex,
      applied: 0,
      readPosition: 0,
      watched: true,
    };
    core.step({ type: "heartbeat-reply", ...answered });
    expect(emptyToPeer(), "whether what was sent has come (P39)").to.equal(true);
  });
});

describe("data in doubt", () => {
  it("keeps a member from voting and leading", () => {
    const core = start();
    for (const fitness of [
      { ...FIT, damaged: true },
      { ...FIT, damaged: true, mayLead: false },
      { ...FIT, damaged: true, mayVote: false },
    ]) {
      expect(() => core.setEligibility(fitness)).to.throw(InvariantViolation, "neither votes nor leads");
    }
  });

  it("G4: proves no loss before it is known whether there is damage", () => {
    const disk = stored(2);
    const core = new RaftCore({
      id: SELF,
      boot: 1,
      term: 1,
      vote: 0,
      commit: 3,
      log: disk.bounds,
      configuration: THREE,
      applied: 3,
      writeSeq: 0,
      limits: DEFAULT_CORE_LIMITS,
      random: () => 0,
      reader: disk,
      checksum: crc32,
    });
    core.step(heartbeat({ commit: 9 }));
    expect([core.drain(true).lossProven, core.commitIndex]).to.deep.equal([false, 3]);
    core.setEligibility(FIT);
    core.step(heartbeat({ commit: 9 }));
    expect([core.drain(true).lossProven, core.drain(true).lossProven]).to.deep.equal([true, false]);
  });

  it("P46: an Append with a commit index above the log proves nothing: it may have overtaken others", () => {
    const core = start();
    core.step(append(9, [], { prevTerm: 2, commit: 9 }));
    expect(core.drain(true).lossProven).to.equal(false);
  });
});

describe("snapshots at the core", () => {
  function installing(): RaftCore {
    const core = start();
    core.step(heartbeat());
    settle(core);
    expect(core.offerSnapshot({ from: 2, term: 2, index: 20, entryTerm: 2 })).to.equal("install");
    expect(core.beginInstall(20, 2)).to.equal(true);
    return core;
  }

  it("are finished after the log, with the configuration of their own index", () => {
    const core = installing();
    expect(() => core.onSnapshotInstalled(THREE)).to.throw(InvariantViolation, "after its log followed");
    const { append: written } = core.drain(true);
    expect(written).to.deep.include({ resetTo: { index: 20, term: 2 }, from: 21, commit: 20 });
    core.onAppendDurable(written?.writeSeq ?? 0);
    expect(core.drain(true).snapshotInstalled).to.equal(true);
    const later = { ...THREE, index: 21 };
    expect(() => core.onSnapshotInstalled(later)).to.throw(InvariantViolation, "configuration of its index");
  });

  it("P23: leave nothing to apply that they hold already", () => {
    const core = installing();
    settle(core);
    core.onSnapshotInstalled({ ...THREE, index: 11 });
    const { messages, apply } = core.drain(true);
    expect([core.appliedIndex, core.commitIndex, apply]).to.deep.equal([20, 20, null]);
    expect(messages.map(({ type }) => type)).to.deep.equal(["append-reply"]);
    expect(() => core.onApplied(20, 0)).to.throw(InvariantViolation);
  });

  it("overtake a compaction that was under way", () => {
    const core = installing();
    settle(core);
    core.onSnapshotInstalled({ ...THREE, index: 11 });
    core.onCompacted(3, 1);
    expect(core.firstIndex).to.equal(21);
  });

  it("contain only applied entries", () => {
    const core = start();
    lead(core);
    expect(() => core.onSnapshotStarted(2, core.appliedIndex + 1)).to.throw(InvariantViolation);
  });
});

describe("messages of a leader", () => {
  it("goes to all members at once, entries within the limit of a message", () => {
    const core = start(stored(2), { limits: { ...DEFAULT_CORE_LIMITS, messageBytesMax: 128 } });
    lead(core);
    for (const from of [2, 3]) {
      const reply = { type: "append-reply", from, to: SELF, term: core.term, refused: false } as const;
      core.step({ ...reply, index: core.lastIndex, hintIndex: 0, hintTerm: 0, commit: 3, busy: "no" });
    }
    settle(core);
    core.propose(Array.from({ length: 5 }, () => encodeEntry(EntryType.Command, NO_ENVELOPE, new Uint8Array(0))));
    const sent = core.drain(true).messages.filter((message) => message.type === "append");
    expect(sent.map(({ to, rows }) => [to, rows.map(entryIndex)])).to.deep.equal([
      [2, [5, 6]],
      [2, [7, 8]],
      [2, [9]],
      [3, [5, 6]],
      [3, [7, 8]],
      [3, [9]],
    ]);
  });
});
