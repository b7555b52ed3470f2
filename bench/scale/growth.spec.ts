import { expect } from "chai";
import { keyOf } from "./growth.ts";

describe("the keys of a growing cluster", () => {
  it("all differ, and consecutive ones are far apart", () => {
    const keys = Array.from({ length: 10_000 }, (_, number) => keyOf(number));
    expect(new Set(keys).size).to.equal(keys.length);
    expect(keyOf(2 ** 32 - 1)).not.to.equal(keyOf(0));
    const numbers = keys.map((key) => Number.parseInt(key.slice("scale/".length), 16));
    expect(Math.max(...numbers)).to.be.above(0.999 * 2 ** 32);
    expect(Math.abs((numbers[1] ?? 0) - (numbers[0] ?? 0))).to.be.above(2 ** 28);
    expect(new Set(keys.map(({ length }) => length))).to.deep.equal(new Set([14]));
  });
});
