import { expect } from "chai";
import { Backoff } from "./backoff.ts";

describe("Backoff", () => {
  it("doubles from the first to the last, and restarts after a success", () => {
    const backoff = new Backoff(50, 2_000, () => 0.5);
    const waits = Array.from({ length: 8 }, () => backoff.next());
    expect(waits).to.deep.equal([50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
    backoff.reset();
    expect(backoff.next()).to.equal(50);
  });

  it("stays within 50 % of it", () => {
    expect(new Backoff(100, 100, () => 0).next()).to.equal(50);
    expect(new Backoff(100, 100, () => 0.999_999).next()).to.be.closeTo(150, 0.001);
  });
});
