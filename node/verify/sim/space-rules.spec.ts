import { expect } from "chai";
import { NO_CONFIGURATION } from "../../src/raft/index.ts";
import { SpaceRules } from "./space-rules.ts";

const LOW = ["the disk is nearly full"];
const VOTERS = { ...NO_CONFIGURATION, index: 1, voters: [1, 2, 3] };
const said = (memberId: number, role: "leader" | "follower", alarms: readonly string[] = []) => {
  return { memberId, role, alarms };
};

describe("the rules of room", () => {
  let rules: SpaceRules;
  beforeEach(() => {
    rules = new SpaceRules();
    rules.onTurn(said(1, "leader"), VOTERS);
    rules.onTurn(said(2, "follower", LOW), VOTERS);
    rules.onTurn(said(1, "leader"), VOTERS);
  });

  it("P45: let one full member stop no caller", () => {
    expect(rules.mayRefuse(said(1, "leader"), VOTERS)).to.equal(false);
    expect(rules.mayRefuse(said(3, "follower"), VOTERS)).to.equal(false);
  });

  it("let a leader refuse when its own disk is short of space, at once and for others", () => {
    expect(rules.mayRefuse(said(1, "leader", ["the disk is full"]), VOTERS)).to.equal(true);
    rules.onTurn(said(1, "leader", LOW), VOTERS);
    expect(rules.mayRefuse(said(3, "follower"), VOTERS)).to.equal(true);
  });

  it("let a leader refuse when most voters were short of space, even if its own disk is not", () => {
    rules.onTurn(said(3, "follower", LOW), VOTERS);
    expect(rules.mayRefuse(said(1, "leader"), VOTERS)).to.equal(true);
    const others = new SpaceRules();
    others.onTurn(said(2, "follower", LOW), VOTERS);
    others.onTurn(said(1, "leader"), { ...VOTERS, voters: [2] });
    expect(others.mayRefuse(said(3, "follower"), VOTERS)).to.equal(true);
  });
});
