import { expect } from "chai";
import { backoffMs, maxAttempts } from "./backoff.ts";

describe("backoffMs", () => {
  it("doubles from 50 ms and ends at 1 s", () => {
    const most = [1, 2, 3, 4, 5, 6, 7, 60].map((attempt) => backoffMs(attempt, 1));
    expect(most).to.deep.equal([50, 100, 200, 400, 800, 1_000, 1_000, 1_000]);
  });

  it("has full jitter: from nothing to the whole pause", () => {
    expect(backoffMs(3, 0)).to.equal(0);
    expect(backoffMs(3, 0.25)).to.equal(50);
  });

  it("serves four attempts", () => {
    expect(maxAttempts).to.equal(4);
  });
});
