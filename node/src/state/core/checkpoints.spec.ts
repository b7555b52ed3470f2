import { expect } from "chai";
import { InvariantViolation } from "../../primitives/index.ts";
import { Checkpoints } from "./checkpoints.ts";

describe("Checkpoints", () => {
  it("keep the digests at the multiples of their interval", () => {
    const checkpoints = new Checkpoints(10);
    expect([checkpoints.newest, checkpoints.digestAt(0)]).to.deep.equal([null, undefined]);
    for (let index = 7; index <= 31; index++) {
      checkpoints.onApplied(index, index + 100);
    }
    expect([9, 10, 11, 20, 30].map((index) => checkpoints.digestAt(index))).to.deep.equal([
      ...[undefined, 110, undefined],
      ...[120, 130],
    ]);
    expect(checkpoints.newest).to.deep.equal({ index: 30, digest: 130 });
  });

  it("keep the newest ones, enough for the reports of a second", () => {
    const checkpoints = new Checkpoints(1);
    for (let index = 1; index <= 1_000; index++) {
      checkpoints.onApplied(index, 0);
    }
    expect([936, 937, 1_000].map((index) => checkpoints.digestAt(index))).to.deep.equal([undefined, 0, 0]);
  });

  it("are some entries apart", () => {
    expect(() => new Checkpoints(0)).to.throw(InvariantViolation);
  });
});
