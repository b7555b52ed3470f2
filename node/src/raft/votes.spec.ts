import { expect } from "chai";
import { NO_CONFIGURATION } from "./configuration.ts";
import { Votes } from "./votes.ts";

const THREE = { ...NO_CONFIGURATION, index: 1, voters: [1, 2, 3] };

describe("the answers of an election", () => {
  it("decide it as soon as a majority has said the same", () => {
    const votes = new Votes();
    expect(votes.result(THREE)).to.equal("pending");
    votes.record(1, true);
    expect(votes.result(THREE)).to.equal("pending");
    votes.record(3, true);
    expect(votes.result(THREE)).to.equal("won");
  });

  it("P35: count once for each voter, and the first counts", () => {
    const votes = new Votes();
    votes.record(2, true);
    votes.record(2, true);
    expect(votes.result(THREE)).to.equal("pending");
    votes.record(3, false);
    votes.record(3, true);
    expect(votes.result(THREE)).to.equal("pending");
    votes.record(1, false);
    expect(votes.result(THREE)).to.equal("lost");
  });

  it("of members that do not vote count for nothing", () => {
    const votes = new Votes();
    for (const learner of [4, 5, 6]) {
      votes.record(learner, true);
    }
    expect(votes.result(THREE)).to.equal("pending");
  });

  it("must be won in both halves of a joint configuration, and are lost in one", () => {
    const joint = { ...THREE, outgoing: [3, 4, 5] };
    const votes = new Votes();
    votes.record(1, true);
    votes.record(2, true);
    expect(votes.result(joint)).to.equal("pending");
    votes.record(4, true);
    votes.record(5, true);
    expect(votes.result(joint)).to.equal("won");
    const others = new Votes();
    others.record(4, false);
    others.record(5, false);
    expect(others.result(joint)).to.equal("lost");
  });
});
