import { expect } from "chai";
import { seededRandom } from "./random.ts";

describe("seeded random", () => {
  it("gives the same numbers for the same seed, on every machine", () => {
    const random = seededRandom(0x10002);
    expect(Array.from({ length: 8 }, () => random(1_000))).to.deep.equal([742, 173, 418, 707, 969, 624, 530, 3]);
  });

  it("gives whole numbers from 0 to below the bound, all of them, about equally often", () => {
    const random = seededRandom(7);
    const counts = new Map<number, number>();
    for (let draw = 0; draw < 20_000; draw++) {
      const number = random(20);
      counts.set(number, (counts.get(number) ?? 0) + 1);
    }
    expect([...counts.keys()].sort((a, b) => a - b)).to.deep.equal(Array.from({ length: 20 }, (_, at) => at));
    for (const [number, count] of counts) {
      expect(count, `how often ${number} came`).to.be.within(800, 1_200);
    }
    expect(random(1)).to.equal(0);
  });

  it("differs between members and between boots of one member", () => {
    const seeds = [1, 2, 3].flatMap((memberId) => [1, 2, 3].map((boot) => memberId * 0x10001 + boot));
    const draws = seeds.map((seed) => {
      const random = seededRandom(seed);
      return [random(1e6), random(1e6), random(1e6)].join();
    });
    expect(new Set(draws).size).to.equal(draws.length);
  });
});
