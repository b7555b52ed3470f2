import { expect } from "chai";
import { drawnSeed, SEED_VARIABLE, seedFor, testSeed } from "./drawn-seed.ts";

const SEEDS = 2 ** 32;

describe("the seed of what tests draw", () => {
  const before = process.env[SEED_VARIABLE];

  afterEach(() => {
    if (before === undefined) {
      delete process.env[SEED_VARIABLE];
    } else {
      process.env[SEED_VARIABLE] = before;
    }
  });

  it("is always the same without the variable, and the one in the variable with it", () => {
    delete process.env[SEED_VARIABLE];
    expect(testSeed()).to.equal(1);
    expect(drawnSeed("kills")).to.equal(seedFor("kills", 1));
    process.env[SEED_VARIABLE] = "77";
    expect(testSeed()).to.equal(77);
    expect(drawnSeed("kills")).to.equal(seedFor("kills", 77)).and.not.to.equal(seedFor("kills", 1));
  });

  for (const wrong of ["", " ", "x", "-1", "1.5", String(SEEDS)]) {
    it(`is refused if the variable is ${JSON.stringify(wrong)}`, () => {
      process.env[SEED_VARIABLE] = wrong;
      expect(() => testSeed()).to.throw(RangeError, "QUOIN_SEED is");
    });
  }

  it("differs for another purpose, and leaves room for all seeds after the first", () => {
    expect(seedFor("kills", 5)).not.to.equal(seedFor("floods", 5));
    for (let seed = 0; seed < 1_000; seed++) {
      expect(seedFor("kills", seed, SEEDS - 10)).to.be.within(0, 10);
    }
  });

  it("is spread over all possible seeds", () => {
    const drawn = Array.from({ length: 1_000 }, (_, seed) => seedFor("kills", seed));
    expect(drawn.filter((one) => one < SEEDS / 2).length).to.be.within(400, 600);
    expect(new Set(drawn).size).to.equal(drawn.length);
  });
});
