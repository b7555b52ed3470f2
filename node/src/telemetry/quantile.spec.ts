import { expect } from "chai";
import { quantileSeconds } from "./quantile.ts";

const BOUNDS = [0.01, 0.1, 1];

describe("quantileSeconds", () => {
  it("is the place in the bucket that contains the quantile, as if its durations were evenly spread", () => {
    expect(quantileSeconds(BOUNDS, [10, 0, 0, 0], 0.5)).to.be.closeTo(0.005, 1e-12);
    expect(quantileSeconds(BOUNDS, [10, 10, 0, 0], 0.5)).to.be.closeTo(0.01, 1e-12);
    expect(quantileSeconds(BOUNDS, [10, 10, 0, 0], 0.75)).to.be.closeTo(0.055, 1e-12);
    expect(quantileSeconds(BOUNDS, [99, 0, 1, 0], 0.99)).to.be.closeTo(0.01, 1e-12);
    expect(quantileSeconds(BOUNDS, [98, 0, 2, 0], 0.99)).to.be.closeTo(0.55, 1e-12);
    expect(quantileSeconds(BOUNDS, [0, 0, 1, 0], 0.5)).to.be.closeTo(0.55, 1e-12);
  });

  it("is the greatest bound for durations beyond all bounds, and 0 without durations", () => {
    expect(quantileSeconds(BOUNDS, [1, 0, 0, 9], 0.5)).to.equal(1);
    expect(quantileSeconds(BOUNDS, [0, 0, 0, 0], 0.5)).to.equal(0);
  });
});
