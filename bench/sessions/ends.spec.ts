import { expect } from "chai";
import { Ends, keyOf, type SessionGroup } from "./ends.ts";

describe("ends of sessions", () => {
  const groupOf = (ids: readonly number[], deadlineMs: number): SessionGroup => ({ namespace: "n", ids, deadlineMs });

  function endsOf(...groups: readonly SessionGroup[]): Ends {
    const ends = new Ends();
    for (const group of groups) {
      for (const id of group.ids) {
        ends.add(group, id);
      }
    }
    return ends;
  }

  it("are late by the time since the last deadline", () => {
    const group = groupOf([1, 2, 3], 500);
    const ends = endsOf(group);
    group.deadlineMs = 1_000;
    for (const [id, atMs] of [
      [1, 1_000],
      [2, 1_400],
      [3, 1_100],
    ] as const) {
      ends.onKeyGone(keyOf(id), atMs);
    }
    const groups = new Set([group]);
    expect(ends.latenessOf(groups)).to.deep.equal({ count: 3, p50Ms: 100, p99Ms: 400, maxMs: 400 });
    expect([ends.early, ends.leftOf(groups), ends.lastMs(groups)]).to.deep.equal([0, 0, 1_400]);
  });

  it("count only for their groups", () => {
    const [ending, staying] = [groupOf([1], 10), groupOf([2], 20)];
    const ends = endsOf(ending, staying);
    ends.onKeyGone(keyOf(1), 11);
    expect([ends.leftOf(new Set([ending])), ends.leftOf(new Set([staying]))]).to.deep.equal([0, 1]);
    expect(ends.lastMs(new Set([staying]))).to.equal(0);
    expect(ends.latenessOf(new Set([ending])).maxMs).to.equal(1);
  });

  it("are early before the deadline, whether the key or the renewal shows it, and count once", () => {
    const ends = endsOf(groupOf([1, 2, 3], 100));
    ends.onKeyGone(keyOf(1), 99);
    ends.onNotRenewed(1, 99.5);
    ends.onNotRenewed(2, 99.9);
    ends.onNotRenewed(3, 100);
    expect(ends.early).to.equal(2);
  });

  it("are those of one session each", () => {
    const ends = endsOf(groupOf([1], 100));
    expect(() => ends.onKeyGone(keyOf(2), 200)).to.throw("of-2");
    ends.onKeyGone(keyOf(1), 200);
    expect(() => ends.onKeyGone(keyOf(1), 201)).to.throw("of-1");
  });
});
