import { expect } from "chai";
import { CatchUp } from "./catch-up.ts";

/** Observes each [acknowledged, last index of the leader, tick] in turn. */
function observed(...steps: readonly (readonly [number, number, number])[]): CatchUp {
  const catchUp = new CatchUp();
  for (const [match, last, tick] of steps) {
    catchUp.observe(match, last, tick);
  }
  return catchUp;
}

describe("a learner", () => {
  it("P21: is not ready before it has answered twice after the beginning", () => {
    expect(new CatchUp().isReady).to.equal(false);
    expect(observed([9, 9, 0]).isReady).to.equal(false);
    expect(observed([9, 9, 0], [9, 9, 2]).isReady).to.equal(false);
    expect(observed([9, 9, 0], [9, 9, 2], [9, 9, 4]).isReady).to.equal(true);
  });

  it("P21: must reach the end that the log had at the beginning of the round, not its current end", () => {
    const catchUp = observed([0, 100, 0], [99, 150, 5]);
    expect(catchUp.isReady).to.equal(false);
    catchUp.observe(100, 160, 10);
    catchUp.observe(160, 180, 15);
    expect(catchUp.isReady).to.equal(true);
  });

  it("P21: is ready only after two short rounds in a row: one of a second or more restarts the count", () => {
    const catchUp = observed([0, 10, 0], [10, 20, 19], [20, 30, 39]);
    expect(catchUp.isReady, "20 ticks are a second").to.equal(false);
    catchUp.observe(30, 40, 58);
    expect(catchUp.isReady).to.equal(false);
    catchUp.observe(40, 50, 77);
    expect(catchUp.isReady).to.equal(true);
  });

  it("P21: is ready no more as soon as a round takes too long, before it ends", () => {
    const catchUp = observed([9, 9, 0], [9, 9, 2], [9, 20, 4]);
    expect(catchUp.isReady).to.equal(true);
    catchUp.observe(15, 20, 23);
    expect(catchUp.isReady).to.equal(true);
    catchUp.observe(16, 20, 24);
    expect(catchUp.isReady).to.equal(false);
  });

  it("P46: that has lost data starts again", () => {
    const catchUp = observed([9, 9, 0], [9, 9, 2], [9, 9, 4]);
    catchUp.restart();
    expect(catchUp.isReady).to.equal(false);
    catchUp.observe(9, 9, 6);
    catchUp.observe(9, 9, 8);
    expect(catchUp.isReady).to.equal(false);
    catchUp.observe(9, 9, 10);
    expect(catchUp.isReady).to.equal(true);
  });
});
