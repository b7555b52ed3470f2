import type { CounterSample } from "@quoin/client";
import { expect } from "chai";
import { longestTurnMs } from "./load.ts";

function sample(atMs: number, loopDelayUs: number): CounterSample {
  return { atMs, intervalMs: 5_000, loopDelayUs } as CounterSample;
}

describe("the longest turn of a noise", () => {
  it("is that of the intervals that overlap the noise, not of those before and after", () => {
    const samples = [sample(10_000, 900_000), sample(15_000, 20_000), sample(20_000, 70_000), sample(25_000, 800_000)];
    expect(longestTurnMs(samples, 10_000, 20_000)).to.equal(70);
    expect(longestTurnMs(samples, 12_000, 21_000)).to.equal(800);
    expect(longestTurnMs(samples, 30_000, 31_000)).to.equal(0);
  });
});
