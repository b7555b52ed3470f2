import { expect } from "chai";
import { CommitRecord } from "./commit-record.ts";

describe("commits of leaders", () => {
  let record: CommitRecord;

  beforeEach(() => {
    record = new CommitRecord();
  });

  it("bind the leaders of later terms, and no leader before the first commit", () => {
    expect(record.below(7)).to.equal(0);
    record.onCommit(2, 5);
    record.onCommit(4, 9);
    expect([2, 3, 4, 5].map((term) => record.below(term))).to.deep.equal([0, 5, 5, 9]);
  });

  it("bind a leader elected by votes that arrive late to no more than what was committed before its term", () => {
    record.onCommit(9, 143);
    record.onCommit(11, 155);
    expect(record.below(10)).to.equal(143);
  });

  it("are new where no leader has committed before, whatever its term", () => {
    expect(record.onCommit(3, 26)).to.equal(true);
    expect(record.onCommit(3, 32)).to.equal(true);
    expect(record.onCommit(2, 27)).to.equal(false);
    expect(record.onCommit(2, 33)).to.equal(true);
    expect(record.onCommit(4, 33)).to.equal(false);
  });

  it("never fall within a term", () => {
    record.onCommit(3, 8);
    record.onCommit(3, 6);
    expect(record.below(4)).to.equal(8);
  });
});
