import { expect } from "chai";
import { counterCheck, type Increment } from "./counters.ts";

let requests = 0;

function increment(outcome: Increment["outcome"], revision = 0): Increment {
  requests++;
  return { counter: "c", requestId: `request-${requests}`, outcome, revision };
}

const HISTORY = [increment("ok", 4), increment("unknown"), increment("not-executed"), increment("ok", 9)];

describe("the oracle of counters", () => {
  it("takes what was acknowledged, and nothing or one of each unknown outcome", () => {
    for (const version of [2, 3]) {
      expect(counterCheck(HISTORY, new Map([["c", version]])), `version ${version}`).to.deep.equal([]);
    }
  });

  it("finds an acknowledged increment that is lost", () => {
    for (const versions of [new Map([["c", 1]]), new Map<string, number>()]) {
      const wrong = counterCheck(HISTORY, versions);
      expect(wrong).to.have.lengthOf(1);
      expect(wrong[0]).to.contain("executed once");
    }
  });

  it("finds an increment that was executed twice, or although it was refused", () => {
    const wrong = counterCheck(HISTORY, new Map([["c", 4]]));
    expect(wrong).to.have.lengthOf(1);
    expect(wrong[0]).to.contain("c is 4, with 2 increments acknowledged and 1 of unknown outcome");
  });

  it("finds two increments at one revision", () => {
    const wrong = counterCheck([increment("ok", 4), increment("ok", 4)], new Map([["c", 2]]));
    expect(wrong).to.have.lengthOf(1);
    expect(wrong[0]).to.contain("a revision has one write");
  });
});
