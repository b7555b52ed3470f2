import { expect } from "chai";
import fc from "fast-check";
import { FakeTime } from "../../../test/harness/index.ts";
import { ClusterTick } from "./cluster-tick.ts";

/** Tolerance for rounding of fractional times. */
const ROUNDING_MS = 1e-6;

describe("cluster tick", () => {
  let time: FakeTime;
  let tick: ClusterTick;
  beforeEach(() => {
    time = new FakeTime();
    tick = new ClusterTick(time, 5_000);
  });

  it("S21: goes on from the greatest logged tick, so a restart keeps what was left of a TTL", () => {
    expect(tick.nowMs).to.equal(5_000);
    tick.start(2);
    expect(tick.nowMs).to.equal(5_000);
    time.advance(1_234.9);
    expect(tick.nowMs).to.equal(6_234);
  });

  it("stands still while there is no leader", () => {
    time.advance(10_000);
    expect(tick.nowMs).to.equal(5_000);
    tick.start(2);
    time.advance(100);
    tick.stop();
    time.advance(10_000);
    expect(tick.nowMs).to.equal(5_100);
    tick.start(2);
    time.advance(1);
    expect(tick.nowMs).to.equal(5_101);
  });

  it("S20: knows nothing of the wall clock: its jumps change nothing", () => {
    tick.start(2);
    time.wallClockMs += 3_600_000;
    time.advance(10);
    expect(tick.nowMs).to.equal(5_010);
    time.wallClockMs -= 7_200_000;
    expect(tick.nowMs).to.equal(5_010);
  });

  it("S21: continues from the tick that a leader has sent, but not if a later leader may not have known it", () => {
    tick.onLeaderTick(2, 9_000);
    tick.follow(2);
    expect(tick.nowMs).to.equal(9_000);
    tick.follow(3);
    expect(tick.nowMs).to.equal(5_000);
    tick.onLeaderTick(3, 5_500);
    tick.start(4);
    time.advance(10);
    expect(tick.nowMs).to.equal(5_510);
  });

  it("S21: what it counted while it led in vain is no time for what another leader has logged meanwhile", () => {
    tick.start(2);
    time.advance(20_000);
    tick.stop();
    tick.follow(3);
    tick.observe(6_000);
    tick.start(4);
    expect(tick.nowMs).to.equal(6_000);
  });

  it("takes a greater tick from the log, and never goes back for a smaller one", () => {
    tick.start(2);
    time.advance(100);
    tick.observe(5_099);
    expect(tick.nowMs).to.equal(5_100);
    tick.observe(7_000);
    expect(tick.nowMs).to.equal(7_000);
    time.advance(10);
    expect(tick.nowMs).to.equal(7_010);
    tick.stop();
    tick.observe(8_000);
    expect(tick.nowMs).to.equal(8_000);
  });

  it("runs on when it is started again while it runs, as a change of the configuration does", () => {
    tick.start(2);
    time.advance(1_000);
    tick.start(2);
    expect(tick.nowMs).to.equal(6_000);
    time.advance(5);
    expect(tick.nowMs).to.equal(6_005);
  });

  it("S21: never goes back, and is never ahead of the time that has passed", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("advance" as const), ms: fc.double({ min: 0, max: 5_000, noNaN: true }) }),
      fc.record({ kind: fc.constantFrom("start" as const, "stop" as const, "observe" as const), ms: fc.constant(0) }),
      fc.record({ kind: fc.constant("wall" as const), ms: fc.integer({ min: -1e7, max: 1e7 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const clock = new FakeTime();
        const running = new ClusterTick(clock, 5_000);
        const startedMs = clock.monotonicMs();
        let before = running.nowMs;
        for (const { kind, ms } of steps) {
          if (kind === "advance") {
            clock.stall(ms);
          } else if (kind === "wall") {
            clock.wallClockMs += ms;
          } else if (kind === "observe") {
            // What this cluster has logged is at most the time that has passed.
            running.observe(Math.floor(5_000 + (clock.monotonicMs() - startedMs) / 2));
          } else {
            running[kind](2);
          }
          expect(running.nowMs).to.be.at.least(before);
          expect(running.nowMs - 5_000).to.be.at.most(clock.monotonicMs() - startedMs + ROUNDING_MS);
          expect(Number.isSafeInteger(running.nowMs)).to.equal(true);
          before = running.nowMs;
        }
      }),
    );
  });
});
