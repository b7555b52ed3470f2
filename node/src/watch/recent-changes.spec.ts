import { expect } from "chai";
import { CHANGE_BYTES, RecentChanges } from "./recent-changes.ts";
import type { SharedChange, SharedRevision } from "./shared-change.ts";

const revisionOf = (revision: number, changes: number, bytes: number): SharedRevision => {
  return { revision, changes: new Array<SharedChange>(changes), bytes };
};

describe("the newest changes", () => {
  it("are as many as fit into the memory, which counts the objects of each change", () => {
    const recent = new RecentChanges(1, 10 * (CHANGE_BYTES + 100));
    for (let revision = 1; revision <= 50; revision++) {
      recent.add(revisionOf(revision, 1, 100));
    }
    expect(recent.from).to.equal(41);
    recent.add(revisionOf(51, 9, 900));
    expect(recent.from).to.equal(50);
  });

  it("always have the newest revision, however large it is, and give all from a revision on", () => {
    const recent = new RecentChanges(1, 10 * CHANGE_BYTES);
    recent.add(revisionOf(1, 1, 0));
    recent.add(revisionOf(2, 100, 0));
    expect(recent.from).to.equal(2);
    recent.add(revisionOf(3, 2, 0));
    recent.add(revisionOf(5, 2, 0));
    expect(recent.from).to.equal(3);
    const seen: number[] = [];
    recent.visit(4, ({ revision }) => seen.push(revision) > 0);
    expect(seen).to.deep.equal([5]);
  });
});
