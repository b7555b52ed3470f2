import { expect } from "chai";
import { Sampler, type SamplerName } from "./sampler.ts";

const parent = (isSampled: boolean, end = "8000000000000") => {
  return { traceId: `${"a".repeat(19)}${end}`, spanId: "00f067aa0ba902b7", isSampled, state: "" };
};

describe("sampler", () => {
  const decisions = [
    // name, ratio; without a parent, with a sampled one, with one that is not.
    ["always_on", 0, true, true, true],
    ["always_off", 1, false, false, false],
    ["parentbased_always_on", 0, true, true, false],
    ["parentbased_always_off", 1, false, true, false],
    ["traceidratio", 1, true, true, true],
    ["traceidratio", 0, false, false, false],
    ["parentbased_traceidratio", 1, true, true, false],
    ["parentbased_traceidratio", 0, false, true, false],
  ] as const satisfies readonly [SamplerName, number, boolean, boolean, boolean][];
  for (const [name, ratio, alone, below, belowUnsampled] of decisions) {
    it(`${name} with the ratio ${ratio}`, () => {
      const sampler = new Sampler({ name, ratio });
      expect(sampler.isSampled(null)).to.equal(alone);
      expect(sampler.isSampled(parent(true))).to.equal(below);
      expect(sampler.isSampled(parent(false))).to.equal(belowUnsampled);
    });
  }

  it("keeps a share of the traces that begin here", () => {
    const draws = [0.2, 0.24, 0.25, 0.9];
    const sampler = new Sampler({ name: "parentbased_traceidratio", ratio: 0.25 }, () => draws.shift() ?? 1);
    expect([1, 2, 3, 4].map(() => sampler.isSampled(null))).to.deep.equal([true, true, false, false]);
  });

  it("decides by the trace id, like every participant with the same ratio", () => {
    const sampler = new Sampler({ name: "traceidratio", ratio: 0.5 });
    expect(sampler.isSampled(parent(false, "7ffffffffffff"))).to.equal(true);
    expect(sampler.isSampled(parent(true, "8000000000000"))).to.equal(false);
  });
});
