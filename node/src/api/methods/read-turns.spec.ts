import { expect } from "chai";
import { ReadTurns } from "./read-turns.ts";

describe("the turns of reads (S44)", () => {
  let nowMs = 0;
  let later: (() => void)[] = [];
  let turns: ReadTurns;
  let done: string[] = [];

  beforeEach(() => {
    nowMs = 0;
    later = [];
    done = [];
    turns = new ReadTurns({ nowMs: () => nowMs, later: (callback) => void later.push(callback) });
  });

  /** A read that takes this long. */
  function read(caller: string, costMs: number): void {
    const run = (): void => {
      nowMs += costMs;
      done.push(caller);
    };
    if (turns.isFree) {
      run();
    } else {
      turns.wait(caller, run);
    }
  }

  /** The next turn of the event loop. Returns the callers whose reads ran in it. */
  function turn(): string[] {
    done = [];
    for (const callback of later.splice(0)) {
      callback();
    }
    return done;
  }

  it("run reads at once while the turn of the event loop has time, and the others in later turns", () => {
    for (let at = 0; at < 6; at++) {
      read("a", 2);
    }
    expect(done).to.deep.equal(["a", "a"]);
    expect(turns.waiting).to.equal(4);
    nowMs += 100;
    expect(turn()).to.deep.equal(["a", "a"]);
    expect(turn()).to.deep.equal(["a", "a"]);
    expect(turns.waiting).to.equal(0);
    expect(later.length, "the turn that finds nothing to do").to.equal(1);
    turn();
    expect(later).to.deep.equal([]);
  });

  it("keep the order of a caller's reads", () => {
    const order: number[] = [];
    read("a", 4);
    for (const at of [1, 2, 3]) {
      turns.wait("a", () => order.push(at));
    }
    turn();
    expect(order).to.deep.equal([1, 2, 3]);
  });

  it("do not let a new read overtake those that wait", () => {
    read("a", 4);
    turns.wait("a", () => done.push("first"));
    later = [];
    nowMs += 10;
    expect(turns.isFree).to.equal(false);
  });

  it("let callers use the same time, whatever a read costs", () => {
    read("a", 4);
    for (let at = 0; at < 100; at++) {
      read("expensive", 3);
    }
    for (let at = 0; at < 1_000; at++) {
      read("cheap", 0.1);
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

  it("serve a caller with one read after at most one read of each other caller", () => {
    read("a", 4);
    for (let at = 0; at < 100; at++) {
      read("expensive", 10);
    }
    turn();
    read("quiet", 0.1);
    turn();
    expect(done).to.include("quiet");
    expect(done.indexOf("quiet")).to.be.at.most(1);
  });

  it("forget callers that have no more reads", () => {
    read("a", 4);
    for (let at = 0; at < 1_000; at++) {
      read(`caller ${at}`, 0.001);
    }
    turn();
    expect(turns.waiting).to.equal(0);
    turn();
    read("b", 1);
    expect(done).to.deep.equal(["b"]);
  });
});
