import { expect } from "chai";
import { ReadAllowance } from "./read-allowance.ts";

describe("allowance to read the state", () => {
  it("is what one second allows at first, and never more", () => {
    const allowance = new ReadAllowance(1_000, 0);
    allowance.grow(60_000);
    allowance.take(999);
    expect(allowance.isOpen).to.equal(true);
    allowance.take(1);
    expect(allowance.isOpen).to.equal(false);
  });

  it("makes up for a chunk that was larger, and grows once for the same time", () => {
    const allowance = new ReadAllowance(1_000, 0);
    allowance.take(1_500);
    for (const nowMs of [250, 250, 500]) {
      allowance.grow(nowMs);
      expect(allowance.isOpen, String(nowMs)).to.equal(false);
    }
    allowance.grow(501);
    expect(allowance.isOpen).to.equal(true);
  });
});
