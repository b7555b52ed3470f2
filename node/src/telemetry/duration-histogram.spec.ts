import { expect } from "chai";
import { DurationHistogram, LONG_BOUNDS, REQUEST_BOUNDS, SHORT_BOUNDS } from "./duration-histogram.ts";

describe("DurationHistogram", () => {
  it("counts each in the first bucket whose bound it does not exceed, and durations above all bounds at the end", () => {
    const durations = new DurationHistogram([0.01, 0.1, 1]);
    for (const ms of [0, 10, 10.001, 100, 999, 1_000, 1_001, 50_000]) {
      durations.addMs(ms);
    }
    expect(durations.counts).to.deep.equal([2, 2, 2, 2]);
    expect(durations.count).to.equal(8);
    expect(durations.sumSeconds).to.be.closeTo(53.120_001, 1e-9);
  });

  it("has bounds that grow", () => {
    for (const bounds of [SHORT_BOUNDS, REQUEST_BOUNDS, LONG_BOUNDS]) {
      expect([...bounds].sort((a, b) => a - b)).to.deep.equal(bounds);
      expect(new Set(bounds).size).to.equal(bounds.length);
    }
  });
});
