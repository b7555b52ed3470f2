import { expect } from "chai";
import { BEAT_INTERVAL_MS, EventLoopDelay } from "./event-loop-delay.ts";

describe("EventLoopDelay", () => {
  let nowMs: number;
  let delay: EventLoopDelay;

  beforeEach(() => {
    nowMs = 5_000;
    delay = new EventLoopDelay(() => nowMs);
  });

  function beatAfter(passedMs: number): void {
    nowMs += passedMs;
    delay.beat();
  }

  it("is the largest one since it was last read", () => {
    expect(delay.takeLargestMs()).to.equal(0);
    for (const lateMs of [1, 40, 3]) {
      beatAfter(BEAT_INTERVAL_MS + lateMs);
    }
    expect(delay.takeLargestMs()).to.equal(40);
    beatAfter(BEAT_INTERVAL_MS + 2);
    expect(delay.takeLargestMs()).to.equal(2);
    expect(delay.takeLargestMs()).to.equal(0);
  });

  it("is nothing while beats come on time or early", () => {
    beatAfter(BEAT_INTERVAL_MS);
    beatAfter(BEAT_INTERVAL_MS - 1);
    expect(delay.takeLargestMs()).to.equal(0);
  });

  it("counts a beat that has not come yet, and the same stall once", () => {
    nowMs += BEAT_INTERVAL_MS + 200;
    expect(delay.takeLargestMs()).to.equal(200);
    beatAfter(0);
    expect(delay.takeLargestMs()).to.equal(0);
  });

  it("reports the first part of a stall to a reader in the middle of it, and the rest to the next", () => {
    nowMs += BEAT_INTERVAL_MS + 200;
    delay.takeLargestMs();
    beatAfter(300);
    expect(delay.takeLargestMs()).to.equal(300);
  });

  it("counts each beat as far as it was late, and no beat that was on time as late", () => {
    for (const lateMs of [0, 0, 30, 300]) {
      beatAfter(BEAT_INTERVAL_MS + lateMs);
    }
    expect(delay.delays.count).to.equal(4);
    expect(delay.delays.counts[0]).to.equal(2);
    expect(delay.delays.sumSeconds).to.be.closeTo(0.33, 1e-9);
  });

  it("misses no stall that begins when it is read", () => {
    beatAfter(BEAT_INTERVAL_MS);
    delay.takeLargestMs();
    beatAfter(200);
    expect(delay.takeLargestMs()).to.equal(200 - BEAT_INTERVAL_MS);
  });
});
