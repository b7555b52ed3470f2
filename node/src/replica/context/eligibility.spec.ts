import { expect } from "chai";
import { Eligibility } from "./eligibility.ts";

const FIT = { mayVote: true, mayLead: true, damaged: false, diskFull: false };

describe("the fitness of a member", () => {
  let fitness: Eligibility;
  beforeEach(() => {
    fitness = new Eligibility(false);
  });

  it("is full as long as nothing is wrong", () => {
    expect([fitness.memberEligibility(false), fitness.mayServe, fitness.alarms]).to.deep.equal([FIT, true, []]);
  });

  it("P46: damaged it neither votes nor leads nor serves, also alone, until it is healed", () => {
    const damaged = new Eligibility(true);
    for (const isSole of [false, true]) {
      expect(damaged.memberEligibility(isSole)).to.deep.equal({
        ...FIT,
        mayVote: false,
        mayLead: false,
        damaged: true,
      });
    }
    expect([damaged.mayServe, damaged.alarms.length]).to.deep.equal([false, 1]);
    damaged.onWriteBegun(0);
    damaged.onWritten();
    expect(damaged.memberEligibility(false), "a write heals nothing").to.include({ mayVote: false, damaged: true });
    damaged.onDataRecovered();
    expect([damaged.memberEligibility(false), damaged.mayServe, damaged.alarms]).to.deep.equal([FIT, true, []]);
  });

  it("a log write in flight for more than 1 s keeps it from leading, for more than 30 s ends the process", () => {
    fitness.onWriteBegun(500);
    for (const [nowMs, isStalled, isStuck] of [
      [1_500, false, false],
      [1_501, true, false],
      [30_500, true, false],
      [30_501, true, true],
    ] as const) {
      expect(fitness.isStuck(nowMs), `${nowMs}`).to.equal(isStuck);
      expect(fitness.memberEligibility(false), `${nowMs}`).to.deep.equal({ ...FIT, mayLead: !isStalled });
      expect([fitness.mayServe, fitness.alarms.length], `${nowMs}`).to.deep.equal([!isStalled, isStalled ? 1 : 0]);
    }
    fitness.onWritten();
    expect([fitness.memberEligibility(false), fitness.mayServe]).to.deep.equal([FIT, true]);
    expect(fitness.isStuck(1e9), "nothing is in flight").to.equal(false);
  });

  it("every write has its own time", () => {
    fitness.onWriteBegun(0);
    fitness.onWritten();
    fitness.onWriteBegun(900);
    expect(fitness.isStuck(1_800)).to.equal(false);
    expect(fitness.mayServe).to.equal(true);
  });

  it("P45: with little room it leads and serves, with none it does neither and takes no entries", () => {
    fitness.onSpace("low");
    expect([fitness.memberEligibility(false), fitness.mayServe, fitness.alarms]).to.deep.equal([
      FIT,
      true,
      ["the disk is nearly full"],
    ]);
    fitness.onSpace("full");
    expect(fitness.memberEligibility(false)).to.deep.equal({ ...FIT, mayLead: false, diskFull: true });
    expect([fitness.mayServe, fitness.alarms]).to.deep.equal([false, ["the disk is full"]]);
    fitness.onSpace("ok");
    expect([fitness.memberEligibility(false), fitness.mayServe]).to.deep.equal([FIT, true]);
  });

  it("alone it continues to lead whatever the disk does: no other member could", () => {
    fitness.onSpace("full");
    fitness.onWriteBegun(0);
    fitness.isStuck(2_000);
    fitness.onLeaving();
    expect(fitness.memberEligibility(true)).to.deep.equal({ ...FIT, diskFull: true });
  });

  it("about to stop it votes and leads no more", () => {
    fitness.onLeaving();
    expect(fitness.memberEligibility(false)).to.deep.equal({ ...FIT, mayLead: false });
    expect(fitness.mayServe, "it serves to its end").to.equal(true);
  });
});
