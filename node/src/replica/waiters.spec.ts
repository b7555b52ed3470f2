import { expect } from "chai";
import fc from "fast-check";
import { CoordinationError, type Outcome } from "../state/index.ts";
import { deadlineError, holdUntil, Waiters } from "./waiters.ts";

const OUTCOME: Outcome = { answer: { kind: "delete-key", previous: null, revision: 7 }, replayed: "no" };
const noLeader = (): CoordinationError => new CoordinationError("NO_LEADER", "no leader");

describe("waiters", () => {
  let waiters: Waiters;
  let answers: string[];
  beforeEach(() => {
    waiters = new Waiters();
    answers = [];
  });

  function add(name: string, nowMs: number, deadlineMs: number) {
    return waiters.add(nowMs, deadlineMs, (error, outcome) => {
      const what = error === null ? `revision ${outcome === null ? "none" : "7"}` : `${error.reason} ${error.outcome}`;
      answers.push(`${name}: ${what}`);
    });
  }

  it("S36: holds a call for at most 3 s, and never into the last tenth of its deadline, at least 50 ms", () => {
    const table: readonly (readonly [deadlineMs: number, heldMs: number])[] = [
      [60_000, 3_000],
      [5_000, 3_000],
      [3_400, 3_000],
      [3_000, 2_700],
      [1_000, 900],
      [500, 450],
      [200, 150],
      [60, 10],
    ];
    for (const [deadlineMs, heldMs] of table) {
      expect(holdUntil(10_000, 10_000 + deadlineMs) - 10_000, `deadline ${deadlineMs}`).to.equal(heldMs);
    }
    expect(holdUntil(10_000, 10_040), "a deadline that leaves no time to hold").to.be.at.most(10_000);
  });

  it("gives every attempt a number of its own", () => {
    const seqs = Array.from({ length: 100 }, () => add("a", 0, 10).seq);
    expect(new Set(seqs).size).to.equal(100);
    expect(Math.min(...seqs)).to.be.at.least(1);
  });

  it("P56: answers by the attempt's own number, once, and nobody else", () => {
    const [first, second] = [add("first", 0, 1_000), add("second", 0, 1_000)];
    expect(waiters.size).to.equal(2);
    waiters.answer(second.seq + 1, OUTCOME);
    expect(answers).to.deep.equal([]);
    waiters.answer(second.seq, OUTCOME);
    waiters.answer(second.seq, OUTCOME);
    expect(answers).to.deep.equal(["second: revision 7"]);
    expect([waiters.has(first), waiters.has(second), waiters.size]).to.deep.equal([true, false, 1]);
  });

  it("S12: says unknown once the entry was handed out, but only at the deadline", () => {
    add("a", 0, 1_000).handedOut = true;
    waiters.expire(999, 1_049, noLeader);
    expect(answers).to.deep.equal([]);
    waiters.expire(1_000, 1_050, noLeader);
    expect(answers).to.deep.equal(["a: DEADLINE unknown"]);
    expect(waiters.size).to.equal(0);
  });

  it("S36: says not-executed, with the reason, of what was held back and never handed out", () => {
    add("a", 0, 1_000);
    waiters.expire(800, 850, noLeader);
    expect(answers).to.deep.equal([]);
    waiters.expire(850, 901, noLeader);
    expect(answers).to.deep.equal(["a: NO_LEADER not-executed"]);
  });

  it("never answers after an answer, whatever comes", () => {
    const waiter = add("a", 0, 1_000);
    waiters.refuse(waiter, noLeader());
    waiters.refuse(waiter, noLeader());
    waiters.answer(waiter.seq, OUTCOME);
    waiters.expire(2_000, 2_050, noLeader);
    waiters.refuseAll();
    expect(answers).to.deep.equal(["a: NO_LEADER not-executed"]);
  });

  it("tells all at the end whether they were executed, as far as it knows", () => {
    add("held", 0, 1_000);
    add("handed out", 0, 1_000).handedOut = true;
    waiters.refuseAll();
    expect(answers).to.deep.equal(["held: SHUTTING_DOWN not-executed", "handed out: SHUTTING_DOWN unknown"]);
    expect(waiters.size).to.equal(0);
  });

  it("lets an answer add and answer others", () => {
    const second = add("second", 0, 1_000);
    const first = waiters.add(0, 1_000, () => {
      waiters.refuse(second, noLeader());
      add("third", 0, 500);
    });
    waiters.refuse(first, noLeader());
    expect(answers).to.deep.equal(["second: NO_LEADER not-executed"]);
    expect(waiters.size).to.equal(1);
  });

  it("holds nobody longer than S36 allows, whatever the deadline and the moment of the ticks", () => {
    const tickMs = 50;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 49 }), fc.integer({ min: 1, max: 10_000 }), (offset, timeoutMs) => {
        const held = new Waiters();
        let refusedMs = Number.POSITIVE_INFINITY;
        let nowMs = 0;
        held.add(0, timeoutMs, () => {
          refusedMs = nowMs;
        });
        for (nowMs = offset; held.size > 0; nowMs += tickMs) {
          held.expire(nowMs, nowMs + tickMs, noLeader);
        }
        const reserveMs = Math.max(50, timeoutMs / 10);
        // What comes with less time than that is refused by the first tick.
        expect(refusedMs).to.be.at.most(Math.max(Math.min(3_000, timeoutMs - reserveMs), offset));
      }),
    );
  });

  it("calls a missed deadline unknown and tells how to learn the truth", () => {
    const error = deadlineError();
    expect([error.reason, error.outcome]).to.deep.equal(["DEADLINE", "unknown"]);
    expect(error.message).to.include("request-id");
  });
});
