import { expect } from "chai";
import type { Run } from "./measure.ts";
import { compare, interleave, summarize } from "./summary.ts";

const MIB = 1024 * 1024;

function runOf(change: Partial<Run>): Run {
  return {
    system: "quoin",
    inFlight: 4,
    operations: 4,
    durationMs: 1000,
    latenciesMs: Float64Array.of(1, 2, 3, 4),
    memberCpuMs: [10, 20, 30],
    memberMemoryBytesMax: [100 * MIB, 200 * MIB, 150 * MIB],
    generatorCpuMs: 8,
    idleCpuMs: null,
    otherCpuMs: null,
    hasLeaderChanged: false,
    ...change,
  };
}

describe("summary of a benchmark", () => {
  it("interleaves two systems A B B A, and measures one by itself once", () => {
    expect(interleave(["a", "b"])).to.deep.equal(["a", "b", "b", "a"]);
    expect(interleave(["a"])).to.deep.equal(["a"]);
  });

  it("takes the figures over the operations of all runs, not the mean of their figures", () => {
    const slow = { operations: 2, durationMs: 2000, latenciesMs: Float64Array.of(100, 1000), generatorCpuMs: 10 };
    const point = summarize([runOf({}), runOf({ ...slow, memberMemoryBytesMax: [90 * MIB, 250 * MIB, 1 * MIB] })]);
    expect(point).to.deep.equal({
      system: "quoin",
      inFlight: 4,
      runs: 2,
      operations: 6,
      perSecond: 2,
      p50Ms: 3,
      p99Ms: 1000,
      maxMs: 1000,
      memberCpuSecondsPer1000: 20,
      generatorCpuSecondsPer1000: 3,
      generatorCpuPercent: 0.6,
      memoryMiBMax: 250,
    });
  });

  it("knows nothing of the members where one run does not", () => {
    const point = summarize([runOf({}), runOf({ memberCpuMs: null, memberMemoryBytesMax: null })]);
    expect(point.memberCpuSecondsPer1000).to.equal(null);
    expect(summarize([runOf({ memberMemoryBytesMax: null })]).memoryMiBMax).to.equal(null);
  });

  it("divides ours by theirs", () => {
    const ours = summarize([runOf({})]);
    const theirs = summarize([
      runOf({
        durationMs: 500,
        latenciesMs: Float64Array.of(1, 4, 4, 8),
        memberCpuMs: [30],
        memberMemoryBytesMax: [400 * MIB],
      }),
    ]);
    const expected = { inFlight: 4, perSecond: 0.5, p50: 0.5, p99: 0.5, memberCpu: 2, memory: 0.5 };
    expect(compare(ours, theirs)).to.deep.equal(expected);
    const unknown = compare(ours, { ...theirs, memberCpuSecondsPer1000: null, memoryMiBMax: 0 });
    expect([unknown.memberCpu, unknown.memory]).to.deep.equal([null, null]);
  });
});
