import { expect } from "chai";
import { FollowerRules } from "./follower-rules.ts";

const FULL = ["the disk is full"];
const status = (lastIndex: number, alarms: readonly string[] = []) => {
  return { role: "follower", firstIndex: 1, lastIndex, alarms } as const;
};

describe("the rules of the entries that a member takes", () => {
  let rules: FollowerRules;
  beforeEach(() => {
    rules = new FollowerRules(1, 100);
  });

  it("P45: are broken by entries that a full disk takes", () => {
    rules.onTurn(status(5), null);
    rules.onTurn(status(6, FULL), null);
    rules.onTurn(status(6, FULL), null);
    expect(() => rules.onTurn(status(7, FULL), null)).to.throw("P45 a full disk takes no entries");
  });

  it("P45: hold for the entries of a leader, and for a log that begins behind a snapshot", () => {
    rules.onTurn({ ...status(5, FULL), role: "leader" }, null);
    rules.onTurn({ ...status(6, FULL), role: "leader" }, null);
    rules.onTurn(status(6, FULL), null);
    rules.onTurn({ ...status(9, FULL), firstIndex: 10 }, null);
  });

  it("P41: are broken by entries beside a write that is too large already", () => {
    const writing = { writeSeq: 3, bytes: 101 };
    rules.onTurn(status(5), writing);
    rules.onTurn(status(5), writing);
    expect(() => rules.onTurn(status(6), writing)).to.throw("P41 a follower holds a bounded amount");
  });

  it("P41: hold beside a small write, and when it has ended meanwhile", () => {
    rules.onTurn(status(5), { writeSeq: 3, bytes: 100 });
    rules.onTurn(status(6), { writeSeq: 3, bytes: 100 });
    rules.onTurn(status(7), { writeSeq: 4, bytes: 500 });
    rules.onTurn(status(8), { writeSeq: 5, bytes: 500 });
    rules.onTurn(status(9), null);
  });
});
