import { expect } from "chai";
import { TICK_MS, Ticks } from "./ticks.ts";

describe("ticks", () => {
  const taken = (ticks: Ticks): number => {
    let count = 0;
    while (ticks.take()) {
      count++;
    }
    return count;
  };

  it("are due once for each interval that has passed, and lose no part of one", () => {
    const ticks = new Ticks(1_000);
    ticks.count(1_000 + TICK_MS - 1);
    expect(ticks.due).to.equal(0);
    ticks.count(1_000 + 2 * TICK_MS - 1);
    expect(taken(ticks)).to.equal(1);
    ticks.count(1_000 + 3 * TICK_MS);
    expect(taken(ticks)).to.equal(2);
    expect(ticks.take()).to.equal(false);
  });

  it("may wait at rest until a leader has a heartbeat to send, or a follower has missed one", () => {
    const ticks = new Ticks(0);
    const roles = ["candidate", "leader", "follower"] as const;
    const waiting = [1, 2, 3].map((tick) => {
      ticks.count(tick * TICK_MS);
      return roles.filter((role) => ticks.mayWait(role));
    });
    expect(waiting).to.deep.equal([["leader", "follower"], ["follower"], []]);
  });

  it("tell how late the timer was", () => {
    const ticks = new Ticks(0);
    ticks.count(TICK_MS + 7);
    expect(ticks.lagMs).to.equal(7);
    ticks.count(2 * TICK_MS);
    expect(ticks.lagMs).to.equal(0);
  });

  it("P55: are made up for after a stall, but for fewer than an election timeout", () => {
    const ticks = new Ticks(0);
    ticks.count(60_000);
    ticks.count(60_000 + TICK_MS);
    expect(taken(ticks)).to.equal(19);
  });
});
