import { crc32 } from "node:zlib";
import { expect } from "chai";
import { StoredLog } from "../../verify/scenarios/index.ts";
import { InvariantViolation } from "../primitives/index.ts";
import { NO_CONFIGURATION } from "./configuration.ts";
import { CoreState } from "./core-state.ts";
import { EntryType } from "./entry.ts";
import { Install, type SnapshotOffer } from "./install.ts";
import { DEFAULT_CORE_LIMITS } from "./limits.ts";
import { RaftLog } from "./log.ts";
import { Reads } from "./reads.ts";
import { Writes } from "./writes.ts";

const TERM = 5;

/** A follower in term 5 with entries 1..4; 1 and 2 are committed. */
function newInstall(): { install: Install; state: CoreState } {
  const disk = new StoredLog();
  for (let count = 0; count < 4; count++) {
    disk.add(EntryType.Command, 3);
  }
  const state = new CoreState({
    id: 2,
    boot: 1,
    limits: DEFAULT_CORE_LIMITS,
    log: new RaftLog(disk.bounds, disk, DEFAULT_CORE_LIMITS.tailBytesMax),
    reads: new Reads(10),
    writes: new Writes(0),
    checksum: crc32,
    term: TERM,
    vote: 0,
    configuration: NO_CONFIGURATION,
    commit: 2,
    applied: 2,
  });
  return { install: new Install(state), state };
}

function offer(index: number, entryTerm: number, from = 1): SnapshotOffer {
  return { from, term: TERM, index, entryTerm };
}

/** Makes the next write durable; returns how it resets the log. */
function write(install: Install, state: CoreState) {
  const writeSeq = state.writes.begin();
  const reset = install.takeReset(writeSeq);
  state.writes.durable(writeSeq, TERM);
  state.log.flushed(writeSeq);
  install.durable(writeSeq);
  return reset;
}

describe("an offered snapshot", () => {
  for (const [name, index, entryTerm, verdict] of [
    ["P25: below the commit index", 1, 3, "stale"],
    ["P25: at the commit index", 2, 3, "stale"],
    ["P25: held and not known as committed", 3, 3, "matches"],
    ["P25: held as the last entry", 4, 3, "matches"],
    ["of another term at an index that is held", 4, 4, "install"],
    ["beyond the log", 9, 4, "install"],
  ] as const) {
    it(`${name}: ${verdict}`, () => {
      const { install } = newInstall();
      expect(install.offer(offer(index, entryTerm))).to.equal(verdict);
      expect(install.isUnderWay).to.equal(verdict === "install");
    });
  }

  it("is judged in its own term", () => {
    const { install } = newInstall();
    expect(() => install.offer({ ...offer(9, 4), term: 4 })).to.throw(InvariantViolation);
  });

  it("P28: takes the place of an older one, which can then not be placed", () => {
    const { install } = newInstall();
    install.offer(offer(9, 4));
    expect(install.offer(offer(12, 5))).to.equal("install");
    expect(install.place(9, 4)).to.equal(false);
    expect(install.place(12, 5)).to.equal(true);
  });

  it("P26: is stale behind the one that is being received, and news again after that was given up", () => {
    const { install } = newInstall();
    install.offer(offer(12, 5));
    expect(install.offer(offer(9, 4))).to.equal("stale");
    install.abandon();
    expect(install.offer(offer(9, 4))).to.equal("install");
  });

  it("P28: is stale once another is placed", () => {
    const { install } = newInstall();
    install.offer(offer(9, 4));
    install.place(9, 4);
    expect(install.offer(offer(12, 5))).to.equal("stale");
  });
});

describe("a snapshot that is being received", () => {
  it("is cancelled by another leader, and reports it once", () => {
    const { install } = newInstall();
    install.offer(offer(9, 4));
    install.cancelUnlessFrom(1);
    expect(install.takeCancelled()).to.equal(false);
    install.cancelUnlessFrom(3);
    expect([install.takeCancelled(), install.takeCancelled()]).to.deep.equal([true, false]);
    expect(install.place(9, 4)).to.equal(false);
  });

  it("is not wanted any more when the log turns out to hold its last entry", () => {
    const { install } = newInstall();
    install.offer(offer(9, 4));
    install.offer(offer(4, 3));
    expect(install.takeCancelled()).to.equal(true);
  });

  it("that was given up is not reported as cancelled", () => {
    const { install } = newInstall();
    install.offer(offer(9, 4));
    install.abandon();
    install.cancel();
    expect([install.takeCancelled(), install.isUnderWay]).to.deep.equal([false, false]);
  });
});

describe("a placed snapshot", () => {
  it("restarts the log with the next write, and is finished when that is durable", () => {
    const { install, state } = newInstall();
    install.offer(offer(9, 4));
    install.place(9, 4);
    expect(state.writes.isDirty).to.equal(true);
    expect(install.takeLogDurable()).to.equal(false);
    expect(write(install, state)).to.deep.equal({ index: 9, term: 4 });
    expect([state.log.firstIndex, state.log.lastIndex, state.commit]).to.deep.equal([10, 9, 9]);
    expect([install.takeLogDurable(), install.takeLogDurable()]).to.deep.equal([true, false]);
    expect(install.finish()).to.equal(9);
    expect(install.isUnderWay).to.equal(false);
  });

  it("restarts the log once", () => {
    const { install, state } = newInstall();
    install.offer(offer(9, 4));
    install.place(9, 4);
    write(install, state);
    state.writes.markDirty();
    expect(write(install, state)).to.equal(null);
  });

  it("cannot be cancelled", () => {
    const { install } = newInstall();
    install.offer(offer(9, 4));
    install.place(9, 4);
    install.cancel();
    install.cancelUnlessFrom(3);
    expect([install.takeCancelled(), install.isPlaced]).to.deep.equal([false, true]);
  });

  it("is not finished before the log has followed on the disk", () => {
    const { install, state } = newInstall();
    install.offer(offer(9, 4));
    install.place(9, 4);
    expect(() => install.finish()).to.throw(InvariantViolation, "after its log followed");
    install.takeReset(state.writes.begin());
    expect(() => install.finish()).to.throw(InvariantViolation, "after its log followed");
  });
});
