import { expect } from "chai";
import fc from "fast-check";
import { EntryType } from "../../raft/index.ts";
import { CoordinationError, type Outcome } from "../../state/index.ts";
import type { Proposal } from "../context/index.ts";
import { HeldCalls } from "./held-calls.ts";
import { deadlineError, type HandedOut, type Held, leaderWaitUntil, type Waiter, Waiters } from "./waiters.ts";

const OUTCOME: Outcome = { answer: { kind: "delete-key", previous: null, revision: 7 }, replayed: "no" };
const PROPOSAL: Proposal = { type: EntryType.Command, payload: new Uint8Array(0), work: 1, subject: "", stored: null };
const noLeader = (): CoordinationError => new CoordinationError("NO_LEADER", "no leader");

describe("waiters", () => {
  let waiters: Waiters;
  let answers: string[];
  beforeEach(() => {
    waiters = new Waiters(new HeldCalls<Held>(1_000, () => undefined));
    answers = [];
  });

  function add(name: string, nowMs: number, deadlineMs: number) {
    return waiters.add(nowMs, deadlineMs, PROPOSAL, (error, outcome) => {
      const what = error === null ? `revision ${outcome === null ? "none" : "7"}` : `${error.reason} ${error.outcome}`;
      answers.push(`${name}: ${what}`);
    });
  }

  /** A call whose attempt was handed to the leader of the term; with the index if the leader has returned it. */
  function handedOut(name: string, term: number, index = 0): HandedOut {
    const { seq } = add(name, 0, 1_000);
    handOut(seq, term, index);
    return inState(seq, "handed-out");
  }

  function handOut(seq: number, term: number, index = 0): void {
    waiters.handOut(inState(seq, "held"), term, 0);
    if (index > 0) {
      waiters.appended(seq, term, index);
    }
  }

  /** The open waiter of the attempt, which is in this state. */
  function inState<State extends Waiter["state"]>(seq: number, state: State): Extract<Waiter, { state: State }> {
    const waiter = waiters.get(seq);
    expect(waiter?.state).to.equal(state);
    return waiter as Extract<Waiter, { state: State }>;
  }

  function answer(seq: number, outcome: Outcome): void {
    const waiter = waiters.get(seq);
    if (waiter !== undefined) {
      waiters.answer(waiter, outcome);
    }
  }

  const stateOf = (waiter: Waiter): string => waiter.state;

  const names = (found: readonly Waiter[], all: ReadonlyMap<string, Waiter>): string[] => {
    return [...all].filter(([, waiter]) => found.includes(waiter)).map(([name]) => name);
  };

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
      expect(leaderWaitUntil(10_000, 10_000 + deadlineMs) - 10_000, `deadline ${deadlineMs}`).to.equal(heldMs);
    }
    expect(leaderWaitUntil(10_000, 10_040), "a deadline that leaves no time to hold").to.be.at.most(10_000);
  });

  it("gives every attempt a number of its own", () => {
    const seqs = Array.from({ length: 100 }, () => add("a", 0, 10).seq);
    expect(new Set(seqs).size).to.equal(100);
    expect(Math.min(...seqs)).to.be.at.least(1);
  });

  it("P56: answers by the attempt's own number, once, and no other caller", () => {
    const [first, second] = [add("first", 0, 1_000), add("second", 0, 1_000)];
    expect(waiters.size).to.equal(2);
    answer(second.seq + 1, OUTCOME);
    expect(answers).to.deep.equal([]);
    answer(second.seq, OUTCOME);
    answer(second.seq, OUTCOME);
    expect(answers).to.deep.equal(["second: revision 7"]);
    expect([stateOf(first), stateOf(second), waiters.size]).to.deep.equal(["held", "ended", 1]);
  });

  it("S12: says unknown once the entry was handed out, but only at the deadline", () => {
    handedOut("a", 7);
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
    answer(waiter.seq, OUTCOME);
    waiters.expire(2_000, 2_050, noLeader);
    waiters.refuseAll();
    expect(answers).to.deep.equal(["a: NO_LEADER not-executed"]);
  });

  it("answers all at the end whether they were executed, as far as it knows", () => {
    add("held", 0, 1_000);
    handedOut("handed out", 7);
    waiters.refuseAll();
    expect(answers).to.deep.equal(["held: SHUTTING_DOWN not-executed", "handed out: SHUTTING_DOWN unknown"]);
    expect(waiters.size).to.equal(0);
  });

  it("P56: is refuted by another entry at its index, never by the index alone, and by any entry of a later term", () => {
    const all = new Map<string, Waiter>([
      ["at 10", handedOut("at 10", 3, 10)],
      ["at 11", handedOut("at 11", 3, 11)],
      ["somewhere", handedOut("somewhere", 3)],
      ["later", handedOut("later", 5)],
      ["held", add("held", 0, 1_000)],
    ]);
    const refuted = (index: number, term: number, seq: number) => names(waiters.refutedBy(index, term, seq), all);
    expect(refuted(9, 3, 0)).to.deep.equal([]);
    expect(refuted(10, 3, all.get("at 10")?.seq ?? 0), "its own entry").to.deep.equal([]);
    expect(refuted(11, 3, 0), "somebody else's entry").to.deep.equal(["at 11"]);
    expect(refuted(12, 4, 0), "terms never fall along the log").to.deep.equal(["at 11", "somewhere"]);
    expect(refuted(13, 4, 0), "said already").to.deep.equal([]);
    expect(refuted(14, 6, all.get("later")?.seq ?? 0), "its own entry of a later term").to.not.include("later");
  });

  it("P56: is not refuted any more once its entry was applied, though its answer is still to come", () => {
    const all = new Map<string, Waiter>([
      ["known", handedOut("known", 3, 10)],
      ["not known", handedOut("not known", 3)],
      ["lost", handedOut("lost", 3)],
    ]);
    for (const [index, name] of [
      [10, "known"],
      [11, "not known"],
    ] as const) {
      expect(waiters.refutedBy(index, 3, all.get(name)?.seq ?? 0)).to.deep.equal([]);
    }
    expect(names(waiters.refutedBy(12, 4, 0), all)).to.deep.equal(["lost"]);
  });

  it("P56: goes on with a new attempt under another number, which old words do not concern", () => {
    const former = handedOut("a", 3, 10);
    const old = former.seq;
    const waiter = waiters.renew(former);
    expect([waiter.seq > old, waiter.state]).to.deep.equal([true, "held"]);
    expect(waiters.get(old)).to.equal(undefined);
    expect(waiters.refutedBy(10, 3, 0)).to.deep.equal([]);
    answer(old, OUTCOME);
    expect(answers).to.deep.equal([]);
    handOut(waiter.seq, 3);
    expect(waiters.coveredBy(9, 3), "the former index is forgotten").to.have.length(1);
    answer(waiter.seq, OUTCOME);
    expect(answers).to.deep.equal(["a: revision 7"]);
  });

  it("P56: what the leader of another term says of an index does not count", () => {
    const { seq } = handedOut("a", 3);
    waiters.appended(seq, 4, 10);
    expect(inState(seq, "handed-out").index).to.equal(0);
    waiters.appended(seq, 3, 11);
    waiters.appended(seq, 3, 12);
    expect(inState(seq, "handed-out").index, "the first one counts").to.equal(11);
  });

  it("lets a call that waits for a lock, or for a change to be final, be refuted by nothing", () => {
    const queued = handedOut("queued", 3, 10);
    waiters.queue(queued);
    const changed = handedOut("changed", 3, 11);
    expect(waiters.refutedBy(11, 3, changed.seq)).to.deep.equal([]);
    const provisional = waiters.makeProvisional(inState(changed.seq, "applied"), OUTCOME);
    expect(waiters.refutedBy(11, 3, 0).concat(waiters.refutedBy(12, 9, 0))).to.deep.equal([]);
    expect([stateOf(queued), stateOf(provisional), provisional.outcome]).to.deep.equal([
      "queued",
      "provisional",
      OUTCOME,
    ]);
    expect([waiters.size, waiters.get(provisional.seq)], "not open any more").to.deep.equal([1, undefined]);
    waiters.answer(provisional, provisional.outcome);
    waiters.answer(provisional, provisional.outcome);
    expect(answers).to.deep.equal(["changed: revision 7"]);
    expect(waiters.size).to.equal(1);
  });

  it("S25: lives on without its caller, which gets no answer any more", () => {
    const waiter = handedOut("a", 3, 10);
    waiters.abandon(waiter);
    expect(waiters.refutedBy(10, 3, waiter.seq)).to.deep.equal([]);
    expect(inState(waiter.seq, "applied").done).to.equal(null);
    answer(waiter.seq, OUTCOME);
    expect([answers, waiters.size]).to.deep.equal([[], 0]);
  });

  it("P56: finds what a snapshot may hold, and what is certain about it", () => {
    const all = new Map<string, Waiter>([
      ["term to come", handedOut("term to come", 8)],
      ["behind it", handedOut("behind it", 5, 101)],
      ["at its end", handedOut("at its end", 5, 100)],
      ["same term", handedOut("same term", 5)],
      ["term over", handedOut("term over", 4)],
      ["held", add("held", 0, 1_000)],
    ]);
    const covered = waiters.coveredBy(100, 5);
    const certain = covered.filter(({ isCertain }) => isCertain).map(({ waiter }) => waiter);
    const open = covered.filter(({ isCertain }) => !isCertain).map(({ waiter }) => waiter);
    expect(names(certain, all)).to.deep.equal(["at its end", "term over"]);
    expect(names(open, all)).to.deep.equal(["same term"]);
  });

  it("P56: is refuted by the first entry behind a snapshot if its term was over with the snapshot", () => {
    const all = new Map<string, Waiter>([
      ["term over, behind it", handedOut("term over, behind it", 4, 105)],
      ["same term", handedOut("same term", 5)],
    ]);
    expect(
      names(
        waiters.coveredBy(100, 5).map(({ waiter }) => waiter),
        all,
      ),
    ).to.deep.equal(["same term"]);
    expect(names(waiters.refutedBy(101, 5, 0), all)).to.deep.equal(["term over, behind it"]);
  });

  it("lets an answer add and answer others", () => {
    const second = add("second", 0, 1_000);
    const first = waiters.add(0, 1_000, PROPOSAL, () => {
      waiters.refuse(second, noLeader());
      add("third", 0, 500);
    });
    waiters.refuse(first, noLeader());
    expect(answers).to.deep.equal(["second: NO_LEADER not-executed"]);
    expect(waiters.size).to.equal(1);
  });

  it("lets no call wait longer than S36 allows, whatever the deadline and the moment of the ticks", () => {
    const tickMs = 50;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 49 }), fc.integer({ min: 1, max: 10_000 }), (offset, timeoutMs) => {
        const held = new Waiters(new HeldCalls<Held>(1_000, () => undefined));
        let refusedMs = Number.POSITIVE_INFINITY;
        let nowMs = 0;
        held.add(0, timeoutMs, PROPOSAL, () => {
          refusedMs = nowMs;
        });
        for (nowMs = offset; held.size > 0; nowMs += tickMs) {
          held.expire(nowMs, nowMs + tickMs, noLeader);
        }
        const reserveMs = Math.max(50, timeoutMs / 10);
        // A call with less time than that is refused by the first tick.
        expect(refusedMs).to.be.at.most(Math.max(Math.min(3_000, timeoutMs - reserveMs), offset));
      }),
    );
  });

  it("calls a missed deadline unknown and says how to learn the result", () => {
    const error = deadlineError();
    expect([error.reason, error.outcome]).to.deep.equal(["DEADLINE", "unknown"]);
    expect(error.message).to.include("request-id");
    expect(deadlineError(false).message).not.to.include("request-id");
  });
});
