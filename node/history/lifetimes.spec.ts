import { expect } from "chai";
import { type LifetimeOperation, lifetimeCheck } from "./lifetimes.ts";

type Change = Partial<LifetimeOperation>;

function put(startMs: number, endMs: number, change: Change = {}): LifetimeOperation {
  const fixed = { key: "k", client: "writer", kind: "put", ttlMs: 1_000, outcome: "ok", isFound: false } as const;
  return { ...fixed, startMs, endMs, ...change };
}

function get(startMs: number, endMs: number, isFound: boolean, change: Change = {}): LifetimeOperation {
  return { ...put(startMs, endMs), client: "reader", kind: "get", ttlMs: 0, isFound, ...change };
}

const UNKNOWN = { outcome: "unknown", endMs: Number.POSITIVE_INFINITY } as const;

describe("the oracle of lifetimes", () => {
  it("takes a key that is there for its time, then gone for good", () => {
    const reads = [get(0, 3, false), get(20, 30, true), get(990, 1_010, false), get(1_500, 1_510, false)];
    expect(lifetimeCheck([put(5, 15), ...reads])).to.deep.equal([]);
  });

  it("takes a key that outlives its time, for nobody may have led", () => {
    expect(lifetimeCheck([put(5, 15), get(9_000, 9_010, true)])).to.deep.equal([]);
  });

  it("takes a key of unknown outcome that comes late, or never", () => {
    expect(lifetimeCheck([put(5, 0, UNKNOWN), get(20, 30, false), get(40, 50, true)])).to.deep.equal([]);
    expect(lifetimeCheck([put(5, 0, UNKNOWN), get(20, 30, false), get(9_000, 9_001, false)])).to.deep.equal([]);
  });

  it("ignores reads that have failed", () => {
    const failed = get(20, 30, false, { outcome: "not-executed" });
    expect(lifetimeCheck([put(5, 15), failed])).to.deep.equal([]);
  });

  it("finds a key that is gone before its time", () => {
    const [wrong] = lifetimeCheck([put(5, 15), get(900, 1_000, false)]);
    expect(wrong).to.contain("gone before its time").and.to.contain("[895.000, 995.000]");
  });

  it("finds it also when only a read has shown that the put was executed", () => {
    const wrong = lifetimeCheck([put(5, 0, UNKNOWN), get(20, 30, true), get(40, 50, false)]);
    expect(wrong).to.have.lengthOf(1);
    expect(wrong[0]).to.contain("gone before its time");
  });

  it("finds a key that is back", () => {
    const wrong = lifetimeCheck([put(5, 15), get(1_100, 1_110, false), get(1_120, 1_130, true)]);
    expect(wrong).to.have.lengthOf(1);
    expect(wrong[0]).to.contain("back after it was gone");
  });

  it("finds a key that was not written", () => {
    const refused = put(5, 15, { outcome: "not-executed" });
    for (const history of [
      [refused, get(20, 30, true)],
      [put(40, 50), get(20, 30, true)],
    ]) {
      expect(lifetimeCheck(history).join()).to.contain("found although it was not written");
    }
  });

  it("raises an error for what it cannot judge", () => {
    expect(() => lifetimeCheck([put(5, 15), put(20, 30)])).to.throw("written once");
  });
});
