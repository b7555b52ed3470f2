import { expect } from "chai";
import { seededRandom } from "../../src/replica/index.ts";
import { type FaultKind, landed } from "./fault.ts";
import { Schedule } from "./schedule.ts";

const HOUR_MS = 3_600_000;
const KINDS: readonly FaultKind[] = ["a", "b", "c", "d"].map((name) => {
  return { name, lane: "member", needs: [], make: async () => landed("") };
});

function scheduleOf(runMs: number | null, seed = 1): Schedule {
  return new Schedule(KINDS, runMs, seededRandom(seed));
}

function namesOf(schedule: Schedule, count: number): string[] {
  return Array.from({ length: count }, () => schedule.next()?.name ?? "");
}

describe("the schedule of faults", () => {
  it("goes through all kinds before any comes again", () => {
    const schedule = scheduleOf(HOUR_MS);
    for (let round = 0; round < 5; round++) {
      expect(namesOf(schedule, KINDS.length)).to.have.members(["a", "b", "c", "d"]);
    }
  });

  it("is the same for the same seed, and another for others", () => {
    const orderOf = (seed: number): string => namesOf(scheduleOf(HOUR_MS, seed), 40).join("");
    expect(orderOf(5)).to.equal(orderOf(5));
    expect(new Set([1, 2, 3, 4, 5].map(orderOf)).size).to.be.above(1);
  });

  it("plans every kind for a long run, and those that come first for a short one", () => {
    expect(scheduleOf(HOUR_MS).missing).to.have.members(["a", "b", "c", "d"]);
    expect(scheduleOf(null).missing).to.have.members(["a", "b", "c", "d"]);
    const short = scheduleOf(15_000);
    const { missing, unplanned } = short;
    expect(missing).to.have.lengthOf(2);
    expect([...missing, ...unplanned]).to.have.members(["a", "b", "c", "d"]);
    expect(namesOf(short, 2)).to.have.members([...missing]);
    const [byChance] = unplanned;
    short.noteLanded(KINDS.find(({ name }) => name === byChance) as FaultKind);
    expect(short.unplanned).to.have.lengthOf(1).and.not.to.include(byChance);
  });

  it("asks for what is planned until it has landed", () => {
    const schedule = scheduleOf(null);
    for (let left = KINDS.length; left > 0; left--) {
      const kind = schedule.nextMissing();
      expect(schedule.missing).to.have.lengthOf(left).and.to.include(kind?.name);
      schedule.noteLanded(kind as FaultKind);
    }
    expect(schedule.nextMissing()).to.equal(null);
  });

  it("gives up a planned kind that never lands", () => {
    const schedule = scheduleOf(null);
    let tries = 0;
    while (schedule.nextMissing() !== null) {
      tries++;
    }
    expect(tries).to.equal(8 * KINDS.length);
    expect(schedule.missing).to.have.lengthOf(KINDS.length);
  });
});
