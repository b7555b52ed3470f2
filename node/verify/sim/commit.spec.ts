import { expect } from "chai";
import { firstSeedOf } from "./commit.ts";
import { SEEDS } from "./random.ts";

const ONE = "3b254db0c1b5f0f6f2a1d9c1d6a5e2b4c7f8a901";
const OTHER = "99d3f17ac2b4e6d8f0a1b3c5d7e9fb0d2f4a6c8e";

describe("seeds of a commit", () => {
  it("are the same for the same commit, and differ for another commit or another purpose", () => {
    const first = firstSeedOf(ONE, "new", 300);
    expect(first).to.equal(firstSeedOf(ONE, "new", 300));
    expect(first).not.to.equal(firstSeedOf(OTHER, "new", 300));
    expect(first).not.to.equal(firstSeedOf(ONE, "twice", 300));
  });

  it("leave enough numbers for all seeds after the first", () => {
    for (let commit = 0; commit < 1_000; commit++) {
      const first = firstSeedOf(String(commit), "new", SEEDS - 10);
      expect(first).to.be.within(0, 10);
    }
  });

  it("are spread over all possible seeds", () => {
    const firsts = Array.from({ length: 1_000 }, (_, commit) => firstSeedOf(String(commit), "new", 300));
    expect(firsts.filter((first) => first < SEEDS / 2).length).to.be.within(400, 600);
    expect(new Set(firsts).size).to.equal(firsts.length);
  });
});
