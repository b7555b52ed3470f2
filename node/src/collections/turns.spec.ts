import { expect } from "chai";
import { Turns } from "./turns.ts";

describe("turns of work (S44)", () => {
  let nowMs = 0;
  let later: (() => void)[] = [];
  let turns: Turns;
  let done: string[] = [];

  beforeEach(() => {
    nowMs = 0;
    later = [];
    done = [];
    turns = new Turns({ nowMs: () => nowMs, later: (callback) => void later.push(callback) });
  });

  /** Work that takes this long. */
  function work(caller: string, costMs: number): void {
    turns.run(caller, () => {
      nowMs += costMs;
      done.push(caller);
    });
  }

  /** The next turn of the event loop. Returns the callers whose work ran in it. */
  function turn(): string[] {
    done = [];
    for (const callback of later.splice(0)) {
      callback();
    }
    return done;
  }

  it("run work at once while the turn of the event loop has time, and the others in later turns", () => {
    for (let at = 0; at < 6; at++) {
      work("a", 2);
    }
    expect(done).to.deep.equal(["a", "a"]);
    expect(turns.waiting).to.equal(4);
    nowMs += 100;
    expect(turn()).to.deep.equal(["a", "a"]);
    expect(turn()).to.deep.equal(["a", "a"]);
    expect(turns.waiting).to.equal(0);
    expect(later, "what is called for nothing").to.deep.equal([]);
  });

  it("run work at once for a slice, whichever turns of the event loop it comes in, and then in the next turn", () => {
    for (let at = 0; at < 4; at++) {
      work("a", 1);
      nowMs += 0.1;
    }
    expect(done.length).to.equal(4);
    expect(later).to.deep.equal([]);
    work("a", 1);
    expect(done.length, "work right after the slice").to.equal(4);
    expect(turn()).to.deep.equal(["a"]);
    work("a", 1);
    expect(done.length, "work in the slice that began with the turn").to.equal(2);
  });

  it("run work at once that comes some time after a slice, which was another turn of the event loop", () => {
    work("a", 4);
    nowMs += 3.9;
    expect(turns.isFree).to.equal(false);
    nowMs += 0.1;
    expect(turns.isFree).to.equal(true);
    expect(turns.endMs(nowMs)).to.equal(nowMs + 1);
  });

  it("keep the order of a caller's work", () => {
    const order: number[] = [];
    work("a", 4);
    for (const at of [1, 2, 3]) {
      turns.wait("a", () => order.push(at));
    }
    turn();
    expect(order).to.deep.equal([1, 2, 3]);
  });

  it("do not let new work overtake what waits, although there is time", () => {
    turns.wait("a", () => done.push("first"));
    expect(turns.isFree).to.equal(false);
  });

  it("let callers use the same time, whatever a piece of work costs", () => {
    work("a", 4);
    for (let at = 0; at < 100; at++) {
      work("expensive", 3);
    }
    for (let at = 0; at < 1_000; at++) {
      work("cheap", 0.1);
    }
    const counts = { expensive: 0, cheap: 0 };
    for (let at = 0; at < 20; at++) {
      for (const caller of turn()) {
        counts[caller as keyof typeof counts]++;
      }
    }
    const [expensiveMs, cheapMs] = [counts.expensive * 3, counts.cheap * 0.1];
    expect(expensiveMs / cheapMs).to.be.within(0.7, 1.4);
  });

  it("serve a caller with one piece of work after at most one of each other caller", () => {
    work("a", 4);
    for (let at = 0; at < 100; at++) {
      work("expensive", 10);
    }
    turn();
    work("quiet", 0.1);
    turn();
    expect(done).to.include("quiet");
    expect(done.indexOf("quiet")).to.be.at.most(1);
  });

  it("tell work that can be divided when to let others have their turn", () => {
    const parts: string[] = [];
    const divisible = (caller: string, left: number): void => {
      let rest = left;
      const endMs = turns.endMs(nowMs);
      do {
        nowMs += 0.5;
        parts.push(caller);
        rest--;
      } while (rest > 0 && nowMs < endMs);
      if (rest > 0) {
        turns.wait(caller, () => divisible(caller, rest));
      }
    };
    expect(turns.isFree).to.equal(true);
    divisible("busy", 5);
    expect(parts, "the turn in which it began").to.deep.equal(["busy", "busy"]);
    turns.wait("quiet", () => parts.push("quiet"));
    turn();
    expect(parts.slice(2)).to.deep.equal(["busy", "busy", "quiet", "busy"]);
  });

  it("forget callers that have no more work", () => {
    work("a", 4);
    for (let at = 0; at < 1_000; at++) {
      work(`caller ${at}`, 0.001);
    }
    turn();
    expect(turns.waiting).to.equal(0);
    turn();
    work("b", 1);
    expect(done).to.deep.equal(["b"]);
  });
});
