import { expect } from "chai";
import type { Kind, Timeline } from "./join.ts";
import { summarize, sumsByKind } from "./summary.ts";

/** A put with the given disk time in microseconds. The wire takes 10, our code takes 5. */
function timelineOf(askedAt: Timeline["askedAt"], diskUs: number, isBehind = false): Timeline {
  const point = (step: string, kind: Kind, us: number) => ({ step, kind, atNs: 1_000_000 + us * 1000 });
  const request = [point("arrived", "wire", 10)];
  const handed = point("handed over", isBehind ? "disk" : "code", 10);
  const disk = [handed, point("synced", "disk", 10 + diskUs)];
  const answer = [point("answered", "code", 15 + diskUs)];
  return {
    askedAt,
    decisive: "the leader's disk",
    startNs: 1_000_000,
    legs: [
      { name: "request", fromNs: 1_000_000, points: request },
      { name: "leader's disk", fromNs: 1_010_000, points: disk },
      { name: "first follower", fromNs: 1_010_000, points: [point("acknowledged", "wire", 12)] },
      { name: "answer", fromNs: 1_010_000 + diskUs * 1000, points: answer },
    ],
    path: [...request, ...disk, ...answer],
  };
}

describe("the summary of timelines", () => {
  it("sums the critical path by kind, to exactly the time of the put", () => {
    const sums = sumsByKind(timelineOf("leader", 100));
    expect(sums).to.deep.equal({ code: 5000, threads: 0, disk: 100_000, wire: 10_000, generator: 0 });
  });

  it("counts a step by its kind in each put", () => {
    const { path } = timelineOf("leader", 100, true);
    const late = path.map((point) => (point.step === "handed over" ? { ...point, atNs: point.atNs + 7000 } : point));
    expect(sumsByKind({ startNs: 1_000_000, path: late }).disk).to.equal(100_000);
    expect(sumsByKind({ startNs: 1_000_000, path: late }).code).to.equal(5000);
  });

  it("separates puts at the leader from the others", () => {
    const cases = summarize([timelineOf("follower", 300), timelineOf("leader", 100), timelineOf("follower", 100)]);
    expect(cases.map(({ askedAt, puts }) => [askedAt, puts])).to.deep.equal([
      ["leader", 1],
      ["follower", 2],
    ]);
    expect(summarize([timelineOf("leader", 100)]).map(({ askedAt }) => askedAt)).to.deep.equal(["leader"]);
  });

  it("takes each step since the one before it on its leg, and since the sending", () => {
    const [summary] = summarize([100, 200, 300].map((diskUs) => timelineOf("leader", diskUs)));
    const steps = summary?.steps.map(({ leg, step, kind, sinceStep, sinceStart }) => {
      return [leg, step, kind, sinceStep.p50Us, sinceStep.p99Us, sinceStart.p50Us, sinceStart.p99Us];
    });
    expect(steps).to.deep.equal([
      ["request", "arrived", "wire", 10, 10, 10, 10],
      ["leader's disk", "handed over", "code", 0, 0, 10, 10],
      ["leader's disk", "synced", "disk", 200, 300, 210, 310],
      ["first follower", "acknowledged", "wire", 2, 2, 12, 12],
      ["answer", "answered", "code", 5, 5, 215, 315],
    ]);
    expect(summary?.total).to.deep.equal({ p10Us: 115, p50Us: 215, p99Us: 315, meanUs: 215 });
  });

  it("uses the kind of a step in most puts", () => {
    const puts = [timelineOf("leader", 100, true), timelineOf("leader", 100, true), timelineOf("leader", 100)];
    const [summary] = summarize(puts);
    expect(summary?.steps.find(({ step }) => step === "handed over")?.kind).to.equal("disk");
  });

  it("gives each kind its share of the mean time, and counts the last waits", () => {
    const puts = [100, 200, 300].map((diskUs) => timelineOf("leader", diskUs));
    const [summary] = summarize([...puts, { ...timelineOf("leader", 200), decisive: "a follower's acknowledgement" }]);
    const disk = summary?.kinds.find(({ kind }) => kind === "disk");
    expect(disk).to.deep.equal({ kind: "disk", p10Us: 100, p50Us: 200, p99Us: 300, meanUs: 200, share: 200 / 215 });
    expect(summary?.kinds.reduce((total, { share }) => total + share, 0)).to.be.closeTo(1, 1e-9);
    expect(summary?.decisive).to.deep.equal([
      { what: "the leader's disk", puts: 3 },
      { what: "a follower's acknowledgement", puts: 1 },
    ]);
  });
});
