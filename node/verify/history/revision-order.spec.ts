import { expect } from "chai";
import { contradictionsOfOrder, type RevisionAnswer } from "./revision-order.ts";

type Line = readonly [name: string, startMs: number, endMs: number, revision: number, own?: number];

function judged(...lines: readonly Line[]): string {
  const answers = lines.map(([name, startMs, endMs, revision, own = null]): RevisionAnswer => {
    return { name, startMs, endMs, revision, own };
  });
  return contradictionsOfOrder(answers).join("\n");
}

describe("the order of revisions", () => {
  it("keeps to the times", () => {
    expect(judged(["a", 0, 1, 5, 5], ["b", 2, 3, 5])).to.equal("");
    expect(judged(["a", 0, 1, 5, 5], ["b", 2, 3, 4])).to.contain("never go backwards: b is at 4");
  });

  it("gives a change a revision above all answers from before it began", () => {
    expect(judged(["a", 0, 1, 5], ["b", 2, 3, 6, 6])).to.equal("");
    expect(judged(["a", 0, 1, 5], ["b", 2, 3, 5, 5])).to.contain("never go backwards: b is at 5");
    expect(judged(["a", 0, 1, 5], ["b", 2, 3, 9, 5])).to.contain("never go backwards: b is at 5");
  });

  it("says nothing of what overlaps", () => {
    expect(judged(["a", 0, 3, 5, 5], ["b", 2, 3, 4, 4])).to.equal("");
    expect(judged(["a", 0, Number.POSITIVE_INFINITY, 5], ["b", 2, 3, 4])).to.equal("");
  });

  it("gives a revision to one change", () => {
    expect(judged(["a", 0, 3, 5, 5], ["b", 2, 3, 6, 6])).to.equal("");
    expect(judged(["a", 0, 3, 5, 5], ["b", 2, 3, 6, 5])).to.contain("5 was made by a and by b");
  });

  it("does not answer before the change", () => {
    expect(judged(["a", 0, 3, 6, 5])).to.equal("");
    expect(judged(["a", 0, 3, 4, 5])).to.contain("is not older than its change");
  });
});
