import { expect } from "chai";
import { EventHeap } from "./event-heap.ts";
import { ProcessLoop, passPoint } from "./process-loop.ts";
import { streamsOf } from "./random.ts";

describe("the event loop of a simulated process", () => {
  let heap: EventHeap;
  let loop: ProcessLoop;
  let log: string[];
  let rounds: number;

  beforeEach(() => {
    heap = new EventHeap();
    log = [];
    rounds = 0;
    loop = new ProcessLoop({
      heap,
      random: streamsOf(1).process,
      rate: 1,
      wallStartMs: 0,
      onCrash: () => {
        log.push("crash");
        loop.kill();
      },
      onRound: () => {
        rounds++;
      },
      onMark: () => undefined,
    });
  });

  it("P55: after a pause lets due timers fire once, then what has arrived, then what asked for a turn", () => {
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

  it("says that a round is over only if something has run in it", () => {
    loop.every(50, () => log.push("timer"));
    loop.arrive(() => {
      // It runs in this round, and the one that is due after it finds nothing to do.
      loop.immediate(() => log.push("turn"));
    });
    heap.runUntil(49);
    expect(rounds).to.equal(1);
    heap.runUntil(160);
    expect(log).to.deep.equal(["turn", "timer", "timer", "timer"]);
    expect(rounds).to.equal(4);
  });

  it("asks the heap for one call at a time, however often it is asked for a round", () => {
    loop.every(50, () => log.push("timer"));
    for (let atMs = 1; atMs <= 40; atMs++) {
      heap.at(atMs, () => loop.arrive(() => log.push("frame")));
    }
    heap.runUntil(60);
    expect(log).to.have.length(41);
    // 40 that hand over a frame, 40 rounds of the frames, and one of the timer.
    expect(heap.done).to.equal(81);
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
