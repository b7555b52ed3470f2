import { expect } from "chai";
import fc from "fast-check";
import { Reads } from "./reads.ts";
import { InvariantViolation } from "./violation.ts";

const MANY = 1000;

describe("reads", () => {
  it("P9: get a new position whenever they are asked, refused or lost", () => {
    const reads = new Reads(MANY);
    const positions = [reads.ask(3), reads.ask(3)];
    reads.loseAll();
    positions.push(reads.ask(3), reads.refuse(), reads.ask(3));
    expect(positions).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it("that wait are confirmed together, at the commit index of the newest", () => {
    const reads = new Reads(MANY);
    reads.ask(3);
    reads.ask(5);
    expect(reads.confirmAll(9, 2)).to.deep.equal({ position: 2, index: 5 });
    expect(reads.confirmAll(9, 2)).to.equal(null);
  });

  it("P7: are never answered from before the first entry of the leader's term", () => {
    const reads = new Reads(MANY);
    reads.ask(3);
    expect(reads.confirmAll(7, 7)).to.deep.equal({ position: 1, index: 7 });
  });

  it("P7: cannot be confirmed before that entry is committed", () => {
    const reads = new Reads(MANY);
    reads.ask(3);
    expect(() => reads.confirmAll(6, 7)).to.throw(InvariantViolation, "read points are committed");
  });

  it("that nobody asked are not confirmed", () => {
    expect(new Reads(MANY).confirmAll(9, 1)).to.equal(null);
  });

  it("that are lost are told once, and not confirmed any more", () => {
    const reads = new Reads(MANY);
    reads.ask(3);
    reads.ask(3);
    reads.loseAll();
    expect(reads.confirmAll(9, 1)).to.equal(null);
    expect(reads.takeLost()).to.equal(2);
    expect(reads.takeLost()).to.equal(0);
  });

  it("that are confirmed are not lost any more", () => {
    const reads = new Reads(MANY);
    reads.ask(3);
    reads.confirmAll(3, 1);
    reads.loseAll();
    expect(reads.takeLost()).to.equal(0);
  });

  it("asked after a loss are confirmed beside it", () => {
    const reads = new Reads(MANY);
    reads.ask(3);
    reads.loseAll();
    reads.ask(4);
    expect(reads.confirmAll(4, 1)).to.deep.equal({ position: 2, index: 4 });
    expect(reads.takeLost()).to.equal(1);
  });

  it("are bounded: one more than the limit loses all that wait", () => {
    const reads = new Reads(2);
    reads.ask(1);
    reads.ask(1);
    expect(reads.takeLost()).to.equal(0);
    expect(reads.ask(1)).to.equal(3);
    expect(reads.takeLost()).to.equal(3);
    reads.ask(1);
    expect(reads.confirmAll(1, 1)).to.deep.equal({ position: 4, index: 1 });
  });

  it("work at the smallest limit", () => {
    const reads = new Reads(1);
    reads.ask(1);
    expect(reads.confirmAll(1, 1)).to.deep.equal({ position: 1, index: 1 });
    reads.ask(1);
    reads.ask(1);
    expect(reads.takeLost()).to.equal(3);
  });

  it("refuse a commit index that falls", () => {
    const reads = new Reads(MANY);
    reads.ask(5);
    expect(() => reads.ask(4)).to.throw(InvariantViolation, "never falls");
  });

  it("end in exactly one way, each position: confirmed at or above its own commit index, or lost", () => {
    type Step = "ask" | "refuse" | "commit" | "confirm" | "lose" | "take";
    const steps = fc.array(fc.constantFrom<Step[]>("ask", "refuse", "commit", "confirm", "lose", "take"));
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 4 }), (script, max) => {
        const reads = new Reads(max);
        const waiting = new Map<number, number>();
        let commit = 1;
        let lastPosition = 0;
        const take = (): void => {
          const lost = reads.takeLost();
          for (const position of [...waiting.keys()].filter((each) => each <= lost)) {
            waiting.delete(position);
          }
        };
        for (const step of script) {
          if (step === "ask" || step === "refuse") {
            const position = step === "ask" ? reads.ask(commit) : reads.refuse();
            expect(position).to.equal(lastPosition + 1);
            lastPosition = position;
            waiting.set(position, commit);
          } else if (step === "commit") {
            commit++;
          } else if (step === "confirm") {
            // As the core does it: what was lost before is taken first.
            take();
            const confirmed = reads.confirmAll(commit, 1);
            expect(confirmed === null).to.equal(waiting.size === 0);
            for (const [position, asked] of waiting) {
              expect(confirmed?.position).to.be.at.least(position);
              expect(confirmed?.index).to.be.within(asked, commit);
            }
            waiting.clear();
          } else if (step === "lose") {
            reads.loseAll();
          } else {
            take();
            expect(waiting.size).to.be.at.most(max);
          }
        }
        reads.loseAll();
        take();
        expect(waiting.size).to.equal(0);
      }),
    );
  });
});
