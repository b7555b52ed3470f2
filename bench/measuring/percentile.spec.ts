import { expect } from "chai";
import { percentile } from "./percentile.ts";

describe("percentile", () => {
  it("is the nearest rank", () => {
    const values = Float64Array.from({ length: 100 }, (_, at) => at + 1);
    expect([0, 50, 99, 100].map((percent) => percentile(values, percent))).to.deep.equal([1, 50, 99, 100]);
    expect(percentile(Float64Array.of(7), 99)).to.equal(7);
    expect(percentile(new Float64Array(0), 50)).to.equal(0);
  });
});
