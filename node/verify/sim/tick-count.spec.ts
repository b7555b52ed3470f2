import { expect } from "chai";
import { TickCount } from "./tick-count.ts";

describe("the count of ticks", () => {
  it("follows the clock at the last check of timers, and makes up for at most 19", () => {
    let roundMs = 1_000;
    const clock = {
      monotonicMs: () => 1_000,
      unhinderedMs: 0,
      get roundMs() {
        return roundMs;
      },
    };
    const ticks = new TickCount(clock);
    roundMs = 1_149;
    expect([ticks.past, ticks.present]).to.deep.equal([0, 2]);
    ticks.onTurn();
    expect([ticks.past, ticks.present]).to.deep.equal([2, 2]);
    roundMs = 6_150;
    expect(ticks.present).to.equal(21);
    ticks.onTurn();
    roundMs = 6_199;
    expect(ticks.present).to.equal(21);
    roundMs = 6_200;
    expect(ticks.present).to.equal(22);
  });
});
