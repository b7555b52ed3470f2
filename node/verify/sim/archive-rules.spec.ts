import { type RetentionPolicy, type StoredObject, segmentName, snapshotName } from "@quoin/backup";
import { expect } from "chai";
import { FOUNDING } from "../../test/index.ts";
import { ArchiveRules } from "./archive-rules.ts";

const { clusterId } = FOUNDING;
const ORIGIN = { clusterId, clusterName: "spec", quoinVersion: "0.1.0", clusterVersion: 1 };
const HOLE = "archive: where entries are missing, the chain was openly broken";
const KEPT = "archive: retention keeps as many snapshots as it was asked to";

/** An id that follows from the index of a snapshot, or from the last index of a segment. */
function idOf(kind: "a" | "b", index: number): string {
  return `${kind}${index.toString().padStart(31, "0")}`;
}

function stored(name: string): StoredObject {
  return { name, size: 1, modifiedMs: 0 };
}

function snapshot(index: number): StoredObject {
  const numbers = { index, term: 1, revision: index, tickMs: 0, wallMs: index, stateDigest: 0 };
  return stored(snapshotName({ ...ORIGIN, ...numbers, id: idOf("a", index) }));
}

/** A segment that follows another one, or a snapshot. */
function segment(firstIndex: number, lastIndex: number, follows: "a" | "b" = "b"): StoredObject {
  const previous = { previousId: idOf(follows, firstIndex - 1), previousHash: new Uint8Array(32) };
  const indexes = { firstIndex, lastIndex, firstTerm: 1, lastTerm: 1 };
  const numbers = { firstWallMs: 1, lastRevision: lastIndex, lastWallMs: lastIndex, stateDigest: 0 };
  return stored(segmentName({ ...ORIGIN, ...previous, ...indexes, ...numbers, id: idOf("b", lastIndex) }));
}

describe("the rules of the archive", () => {
  let rules: ArchiveRules;

  function begin(retention: RetentionPolicy | null): void {
    const execution = { digestAt: () => 0 };
    rules = new ArchiveRules({ clusterId, execution, retention });
  }

  function put(...objects: readonly StoredObject[]): void {
    for (const object of objects) {
      rules.onPut(object, 0);
    }
  }

  /** A member takes a snapshot. */
  function take(memberId: number, index: number): void {
    put(snapshot(index));
    rules.onSnapshot(memberId, index, idOf("a", index));
  }

  function remove(...objects: readonly StoredObject[]): void {
    for (const object of objects) {
      rules.onDeleted(object);
    }
  }

  beforeEach(() => begin({ keepSnapshots: 1 }));

  it("ask for all entries between the first snapshot and the end", () => {
    put(snapshot(10), segment(11, 14, "a"), snapshot(16));
    expect([rules.isWholeTo(16), rules.isWholeTo(17)], "a snapshot alone").to.deep.equal([true, false]);
    put(segment(17, 20, "a"));
    expect(rules.isWholeTo(20)).to.equal(false);
    expect(() => rules.checkHoles())
      .to.throw(HOLE)
      .with.property("details")
      .that.includes("15 to 16");
    put(segment(15, 16));
    expect(rules.isWholeTo(20)).to.equal(true);
  });

  it("let entries be missing where a member has reported it", () => {
    put(snapshot(10), segment(11, 14, "a"));
    rules.onBreak(1, 14);
    put(snapshot(16), segment(17, 20, "a"));
    expect(rules.isWholeTo(20)).to.equal(true);
    put(snapshot(22), segment(23, 24, "a"));
    expect(rules.isWholeTo(24), "what was said of other entries").to.equal(false);
  });

  it("use the end of the chain that is reported broken, while another one reaches further", () => {
    put(snapshot(10), segment(11, 14, "a"), snapshot(16), segment(17, 20, "a"));
    rules.onBreak(1, 20);
    expect(rules.isWholeTo(20), "what was said of the end of the other chain").to.equal(false);
    rules.onBreak(1, 14);
    expect(rules.isWholeTo(20)).to.equal(true);
  });

  it("let each of two members begin a chain where both have reported the one before as broken", () => {
    put(snapshot(10), segment(11, 14, "a"));
    rules.onBreak(1, 14);
    rules.onBreak(2, 14);
    take(1, 20);
    put(segment(21, 23, "a"));
    take(2, 25);
    put(segment(26, 30, "a"));
    expect(rules.isWholeTo(30)).to.equal(true);
    take(2, 33);
    put(segment(34, 36, "a"));
    expect(rules.isWholeTo(36), "a later snapshot").to.equal(false);
  });

  it("let a chain begin with the snapshot that a segment follows", () => {
    put(snapshot(10), segment(11, 14, "a"));
    rules.onBreak(1, 14);
    // Another member goes on for a while.
    put(snapshot(18), segment(19, 23, "a"));
    // The first one took a snapshot already when it noticed the break, and a chain begins with the next one.
    take(1, 25);
    take(1, 30);
    put(segment(31, 36, "a"));
    expect(rules.isWholeTo(36)).to.equal(true);
    take(1, 40);
    put(segment(41, 43, "a"));
    expect(rules.isWholeTo(43), "a later snapshot").to.equal(false);
  });

  it("keep the report of a newer break while a chain begins after an older one", () => {
    put(snapshot(10), segment(11, 14, "a"));
    rules.onBreak(1, 14);
    take(1, 20);
    rules.onBreak(1, 20);
    put(segment(21, 23, "a"));
    take(1, 30);
    put(segment(31, 36, "a"));
    expect(rules.isWholeTo(36)).to.equal(true);
  });

  it("forget the report of a member once it goes on with a chain", () => {
    put(snapshot(10), segment(11, 14, "a"));
    rules.onBreak(1, 14);
    rules.onBegin(1);
    put(snapshot(20), segment(21, 23, "a"));
    take(1, 25);
    put(segment(26, 30, "a"));
    expect(rules.isWholeTo(30)).to.equal(false);
  });

  it("let entries be missing if they could restore nothing when the archive went on", () => {
    put(snapshot(10), segment(11, 14, "a"), snapshot(16));
    remove(segment(11, 14, "a"), snapshot(10));
    put(segment(17, 20, "a"));
    expect(rules.isWholeTo(20)).to.equal(true);
    rules.checkHoles();
  });

  it("let entries be missing between the chains of two members that began the archive at the same time", () => {
    put(snapshot(10), snapshot(16), segment(17, 20, "a"), segment(11, 14, "a"));
    expect(rules.isWholeTo(20)).to.equal(true);
    put(snapshot(22), segment(23, 24, "a"));
    expect(rules.isWholeTo(24), "behind them").to.equal(false);
  });

  it("accept no later deletion as a reason for missing entries", () => {
    put(snapshot(10), segment(11, 14, "a"), snapshot(16), segment(17, 20, "a"), snapshot(20));
    remove(segment(17, 20, "a"), snapshot(16), segment(11, 14, "a"), snapshot(10));
    put(segment(21, 22, "a"));
    expect(rules.isWholeTo(22)).to.equal(false);
    expect(() => rules.checkHoles()).to.throw(HOLE);
  });

  it("accept no missing entries while a snapshot before them is left", () => {
    put(snapshot(10), segment(11, 14, "a"), snapshot(16));
    remove(segment(11, 14, "a"));
    put(segment(17, 20, "a"));
    expect(rules.isWholeTo(20)).to.equal(false);
  });

  it("let a member be late only while the store takes one object after another", () => {
    const segmentMs = 1_000;
    const restored = { index: 14, revision: 14, wallMs: 14, chainIndex: 10, isBroken: false, breaks: 0 };
    const report = { ...restored, isArchiving: true, lastSuccessMs: 14, failures: 0 };
    const look = (lagMs: number, nowMs: number) => {
      return () => rules.onLag(1, { isArchiving: true, lagMs, report }, segmentMs, nowMs);
    };
    rules.onPut(snapshot(10), 20_000);
    expect(look(6_000, 30_000), "in time").not.to.throw();
    expect(look(6_001, 22_000), "the store has just taken an object").not.to.throw();
    expect(look(6_001, 22_001)).to.throw("late by no more");
  });

  it("require that retention keeps its snapshots, and the segments after them", () => {
    begin({ keepSnapshots: 2 });
    put(snapshot(10), segment(11, 14, "a"), snapshot(14), segment(15, 20), snapshot(20));
    expect(() => remove(snapshot(14))).to.throw(KEPT);
    expect(() => remove(segment(15, 20))).to.throw(KEPT);
    remove(segment(11, 14, "a"), snapshot(10));
    begin(null);
    put(snapshot(10), snapshot(14), snapshot(20));
    expect(() => remove(snapshot(10))).to.throw(KEPT);
  });
});
