import { expect } from "chai";
import { EventHeap } from "./event-heap.ts";
import { ProcessLoop, passPoint } from "./process-loop.ts";
import { streamsOf } from "./random.ts";

describe("the event loop of a simulated process", () => {
  let heap: EventHeap;
  let loop: ProcessLoop;
  let log: string[];

  beforeEach(() => {
    heap = new EventHeap();
    log = [];
    loop = new ProcessLoop({
      heap,
      random: streamsOf(1).process,
      rate: 1,
      wallStartMs: 0,
      onCrash: () => {
        log.push("crash");
        loop.kill();
      },
      onRound: () => undefined,
      onMark: () => undefined,
    });
  });

  it("P55: after a pause lets due timers fire once, then arrived events, then requested turns", () => {
    loop.every(50, () => {
      log.push("timer");
      loop.immediate(() => log.push("turn"));
    });
    loop.pause(500);
    heap.at(10, () => loop.arrive(() => log.push("frame")));
    heap.runUntil(510);
    expect(log).to.deep.equal(["timer", "frame", "turn"]);
  });

  it("can stop between what has arrived and the turn that follows from it", () => {
    loop.every(50, () => log.push("timer"));
    loop.pauseInRound(100);
    loop.arrive(() => {
      log.push("frame");
      loop.immediate(() => log.push("turn"));
    });
    heap.at(10, () => loop.arrive(() => log.push("late frame")));
    heap.runUntil(90);
    expect(log).to.deep.equal(["frame"]);
    heap.runUntil(110);
    expect(log).to.deep.equal(["frame", "turn", "timer", "late frame"]);
  });

  it("dies in the midst of a callback, and does nothing afterwards", () => {
    loop.immediate(() => {
      log.push("before");
      passPoint();
      log.push("after");
    });
    loop.immediate(() => log.push("next"));
    loop.dieAfter(2);
    heap.runUntil(10);
    expect(log).to.deep.equal(["before", "crash"]);
  });

  it("has a clock of its own", () => {
    const before = loop.monotonicMs();
    heap.runUntil(1_000);
    expect(loop.monotonicMs() - before).to.be.closeTo(1_000, 0.001);
  });
});
