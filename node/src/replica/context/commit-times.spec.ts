import { expect } from "chai";
import { CommitTimes } from "./commit-times.ts";

describe("CommitTimes", () => {
  it("shows since when a member lacks a committed entry", () => {
    const times = new CommitTimes();
    times.observe(10, 1_000);
    times.observe(10, 1_050);
    times.observe(14, 1_100);
    expect(times.lagMs(14, 1_500)).to.equal(0);
    expect(times.lagMs(99, 1_500)).to.equal(0);
    expect(times.lagMs(13, 1_500)).to.equal(400);
    expect(times.lagMs(10, 1_500)).to.equal(400);
    expect(times.lagMs(9, 1_500)).to.equal(500);
    times.clear();
    expect(times.lagMs(0, 1_500)).to.equal(0);
  });

  it("stays small and roughly right for a member that is far behind", () => {
    const times = new CommitTimes();
    for (let at = 1; at <= 100_000; at++) {
      times.observe(at * 10, at * 50);
    }
    const nowMs = 100_000 * 50;
    // Behind for a minute, and for an hour.
    for (const behindMs of [60_000, 3_600_000]) {
      const index = ((nowMs - behindMs) / 50) * 10;
      expect(times.lagMs(index, nowMs)).to.be.within(0, behindMs);
    }
    expect(times.lagMs(0, nowMs)).to.be.greaterThan(nowMs / 2);
    expect(times.lagMs(999_990, nowMs)).to.equal(0);
  });
});
