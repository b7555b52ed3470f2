import { expect } from "chai";
import fc from "fast-check";
import { InvariantViolation } from "../primitives/index.ts";
import { Reads } from "./reads.ts";

const MANY = 1_000;

/** Own reads only: confirms everything up to the position, and returns the confirmation. */
function confirmed(reads: Reads, position: number, commit: number, termStart = 1) {
  reads.confirm(position, termStart, commit);
  return reads.takeConfirmed();
}

describe("reads", () => {
  it("P9: get a new position whenever they are asked, refused or lost", () => {
    const reads = new Reads(MANY);
    const positions = [reads.request(3, 0), reads.request(3, 0)];
    reads.failAll();
    positions.push(reads.request(3, 0), reads.refuse(), reads.request(3, 0));
    expect(positions).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it("that wait are confirmed together, at the commit index of the newest", () => {
    const reads = new Reads(MANY);
    reads.request(3, 0);
    reads.request(5, 0);
    expect(confirmed(reads, 2, 9)).to.deep.equal({ position: 2, index: 5 });
    expect(confirmed(reads, 2, 9)).to.equal(null);
    expect(reads.isEmpty).to.equal(true);
  });

  it("P8: above the confirmed position keep waiting", () => {
    const reads = new Reads(MANY);
    reads.request(3, 0);
    reads.request(5, 0);
    expect(confirmed(reads, 0, 9)).to.equal(null);
    expect(confirmed(reads, 1, 9)).to.deep.equal({ position: 1, index: 3 });
    expect(confirmed(reads, 2, 9)).to.deep.equal({ position: 2, index: 5 });
  });

  it("P7: are never answered from before the first entry of the leader's term", () => {
    const reads = new Reads(MANY);
    reads.request(3, 0);
    expect(confirmed(reads, 1, 7, 7)).to.deep.equal({ position: 1, index: 7 });
  });

  it("P7: cannot be confirmed before that entry is committed", () => {
    const reads = new Reads(MANY);
    reads.request(3, 0);
    expect(() => reads.confirm(1, 7, 6)).to.throw(InvariantViolation, "read points are committed");
  });

  it("that are lost are reported once, and not confirmed any more", () => {
    const reads = new Reads(MANY);
    reads.request(3, 0);
    reads.request(3, 0);
    reads.failAll();
    expect(confirmed(reads, 2, 9)).to.equal(null);
    expect(reads.takeFailed()).to.equal(2);
    expect(reads.takeFailed()).to.equal(0);
  });

  it("that are confirmed are not lost any more", () => {
    const reads = new Reads(MANY);
    reads.request(3, 0);
    reads.confirm(1, 1, 3);
    reads.failAll();
    expect(reads.takeFailed()).to.equal(0);
  });

  it("are bounded: one more than the limit loses all that wait", () => {
    const reads = new Reads(2);
    reads.request(1, 0);
    reads.request(1, 0);
    expect(reads.takeFailed()).to.equal(0);
    expect(reads.request(1, 0)).to.equal(3);
    expect(reads.takeFailed()).to.equal(3);
    reads.request(1, 0);
    expect(confirmed(reads, 4, 1)).to.deep.equal({ position: 4, index: 1 });
  });

  it("work at the smallest limit", () => {
    const reads = new Reads(1);
    reads.request(1, 0);
    expect(confirmed(reads, 1, 1)).to.deep.equal({ position: 1, index: 1 });
    reads.request(1, 0);
    reads.request(1, 0);
    expect(reads.takeFailed()).to.equal(3);
  });

  it("of this member report that they have waited for too many ticks; those of others do not", () => {
    const reads = new Reads(MANY);
    reads.requestFor(2, 1, 7, 3, 0);
    reads.request(3, 5);
    expect(reads.hasWaited(15, 10)).to.equal(false);
    expect(reads.hasWaited(16, 10)).to.equal(true);
  });
});

describe("reads of followers", () => {
  it("P10: are answered with their own position and start, each at its own commit index", () => {
    const reads = new Reads(MANY);
    reads.requestFor(2, 8, 70, 3, 0);
    reads.request(4, 0);
    reads.requestFor(3, 9, 5, 5, 0);
    expect(reads.confirm(3, 1, 9)).to.deep.equal([
      { peer: 2, boot: 8, position: 70, index: 3 },
      { peer: 3, boot: 9, position: 5, index: 5 },
    ]);
    expect(reads.takeConfirmed()).to.deep.equal({ position: 2, index: 4 });
  });

  it("P10: are forgotten when the follower starts again", () => {
    const reads = new Reads(MANY);
    reads.requestFor(2, 8, 70, 3, 0);
    reads.requestFor(3, 9, 5, 3, 0);
    reads.forget(2);
    expect(reads.confirm(2, 1, 9).map(({ peer }) => peer)).to.deep.equal([3]);
  });

  it("are not reported as own losses", () => {
    const reads = new Reads(MANY);
    reads.request(3, 0);
    reads.requestFor(2, 8, 70, 3, 0);
    reads.failAll();
    expect(reads.takeFailed()).to.equal(1);
    expect(reads.confirm(2, 1, 9)).to.deep.equal([]);
  });

  it("are confirmed by the leader up to a position, and those asked later wait", () => {
    const reads = new Reads(MANY);
    reads.request(0, 0);
    reads.request(0, 0);
    reads.request(0, 0);
    reads.confirmAt(2, 40);
    expect(reads.takeConfirmed()).to.deep.equal({ position: 2, index: 40 });
    reads.confirmAt(2, 41);
    expect(reads.takeConfirmed()).to.equal(null);
    reads.confirmAt(9, 42);
    expect(reads.takeConfirmed()).to.deep.equal({ position: 3, index: 42 });
  });
});

describe("own reads, after any events", () => {
  it("end in exactly one way: confirmed at or above the commit index of when they were asked, or lost", () => {
    type Step = "ask" | "other" | "refuse" | "commit" | "confirm" | "lose" | "take";
    const steps = fc.array(fc.constantFrom<Step[]>("ask", "other", "refuse", "commit", "confirm", "lose", "take"));
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 4 }), (script, max) => {
        const reads = new Reads(max);
        const waiting = new Map<number, number>();
        let commit = 1;
        const take = (): void => {
          const told = reads.takeConfirmed();
          for (const [position, asked] of waiting) {
            if (told !== null && position <= told.position) {
              expect(told.index).to.be.within(asked, commit);
              waiting.delete(position);
            }
          }
          const lost = reads.takeFailed();
          for (const position of [...waiting.keys()].filter((each) => each <= lost)) {
            waiting.delete(position);
          }
        };
        for (const step of script) {
          const before = reads.position;
          if (step === "ask" || step === "refuse") {
            const position = step === "ask" ? reads.request(commit, 0) : reads.refuse();
            expect(position).to.equal(before + 1);
            waiting.set(position, commit);
          } else if (step === "other") {
            reads.requestFor(9, 1, 1, commit, 0);
          } else if (step === "commit") {
            commit++;
          } else if (step === "confirm") {
            reads.confirm(before - 1, 1, commit);
          } else if (step === "lose") {
            reads.failAll();
          } else {
            take();
            expect(waiting.size).to.be.at.most(max);
          }
        }
        reads.failAll();
        take();
        expect(waiting.size).to.equal(0);
      }),
    );
  });
});
