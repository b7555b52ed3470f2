import { expect } from "chai";
import fc from "fast-check";
import { EntryType } from "../../raft/index.ts";
import { HeldCalls } from "./held-calls.ts";
import { type Held, Waiters } from "./waiters.ts";

describe("HeldCalls", () => {
  let held: HeldCalls<Held>;
  let waiters: Waiters;
  let rooms: number;
  beforeEach(() => {
    rooms = 0;
    held = new HeldCalls<Held>(1_000, () => {
      rooms++;
    });
    waiters = new Waiters(held);
  });

  function add(subject: string, work: number): Held {
    const proposal = { type: EntryType.Command, payload: new Uint8Array(0), work, subject, stored: null };
    return waiters.add(0, 10_000, proposal, () => undefined);
  }

  /** Takes calls, and hands them out. */
  function take(max = 100): string[] {
    const batch = held.take(0, max);
    for (const call of batch) {
      waiters.handOut(call, 5, 0);
    }
    return batch.map(nameOf);
  }

  const nameOf = ({ seq, proposal }: Pick<Held, "seq" | "proposal">): string => `${proposal.subject}${seq}`;

  it("gives one principal after the other its turn, also over several batches", () => {
    for (const subject of ["a", "a", "a", "a", "b", "b", "c"]) {
      add(subject, 1);
    }
    expect(take(2)).to.deep.equal(["a1", "b5"]);
    expect(take(2)).to.deep.equal(["c7", "a2"]);
    expect(take()).to.deep.equal(["b6", "a3", "a4"]);
    expect(take()).to.deep.equal([]);
  });

  it("lets a principal have as much open work as is left for others", () => {
    const calls = ["a", "a", "a", "b", "b", "c"].map((subject) => add(subject, 240));
    // Two of the same principal are more than what two others leave.
    expect(take()).to.deep.equal(["a1", "b4", "c6"]);
    waiters.drop(calls[3] as Held);
    expect(rooms).to.equal(1);
    expect(take()).to.deep.equal(["a2", "b5"]);
    expect(take()).to.deep.equal([]);
  });

  it("lets nobody pass a command that is larger than the bound, until it is alone", () => {
    const first = add("a", 10);
    const large = add("b", 5_000);
    add("c", 10);
    expect(take()).to.deep.equal(["a1"]);
    expect(take()).to.deep.equal([]);
    waiters.drop(first);
    expect(take()).to.deep.equal(["b2"]);
    waiters.drop(large);
    expect(take()).to.deep.equal(["c3"]);
  });

  it("keeps the places of calls that could not be handed out, and forgets those that have ended", () => {
    const calls = ["a", "a", "b", "a"].map((subject) => add(subject, 400));
    const batch = held.take(0, 100);
    expect(batch.map(nameOf)).to.deep.equal(["a1", "b3"]);
    held.putBack(batch);
    waiters.drop(calls[0] as Held);
    held.forgetEnded();
    expect(take()).to.deep.equal(["a2", "b3"]);
  });

  it("leaves a call that rests out, and its principal's later calls pass it", () => {
    const resting = add("a", 1);
    add("a", 1);
    waiters.rest(resting, 50, expect.fail as never);
    expect(held.take(0, 100).map(nameOf)).to.deep.equal(["a2"]);
    expect(held.take(49, 100).map(nameOf)).to.deep.equal([]);
    expect(held.take(50, 100).map(nameOf)).to.deep.equal(["a1"]);
  });

  it("hands out every call once, each principal's in order, within the bound, whatever happens", () => {
    const subject = fc.constantFrom("a", "b", "c");
    const work = fc.integer({ min: 1, max: 1_500 });
    const step = fc.oneof(
      fc.record({ kind: fc.constant("add" as const), subject, work }),
      fc.record({ kind: fc.constant("take" as const), max: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ kind: fc.constant("refuse" as const), max: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ kind: fc.constant("outcome" as const) }),
      fc.record({ kind: fc.constant("end" as const), at: fc.nat(5) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        held = new HeldCalls<Held>(1_000, () => undefined);
        waiters = new Waiters(held);
        const waiting: Held[] = [];
        const open: Held[] = [];
        const takeSome = (max: number): void => {
          for (const call of held.take(0, max)) {
            const { subject } = call.proposal;
            const first = waiting.find(({ proposal }) => proposal.subject === subject);
            expect(call).to.equal(first);
            waiting.splice(waiting.indexOf(call), 1);
            waiters.handOut(call, 5, 0);
            open.push(call);
            const work = open.reduce((sum, { proposal }) => sum + proposal.work, 0);
            expect(open.length === 1 || work < 1_000, `${open.length} with ${work}`).to.equal(true);
          }
        };
        for (const one of steps) {
          if (one.kind === "add") {
            waiting.push(add(one.subject, one.work));
          } else if (one.kind === "take") {
            takeSome(one.max);
          } else if (one.kind === "refuse") {
            held.putBack(held.take(0, one.max));
          } else if (one.kind === "outcome" && open.length > 0) {
            waiters.drop(open.shift() as Held);
          } else if (one.kind === "end" && one.at < waiting.length) {
            waiters.drop(waiting.splice(one.at, 1)[0] as Held);
            held.forgetEnded();
          }
        }
        for (let rounds = 2 * (waiting.length + open.length); rounds > 0 && waiting.length > 0; rounds--) {
          takeSome(2);
          if (open.length > 0) {
            waiters.drop(open.shift() as Held);
          }
        }
        expect(waiting.map(nameOf)).to.deep.equal([]);
      }),
    );
  });
});
