import { expect } from "chai";
import type { Run } from "./measure.ts";
import { compare, interleave, summarize } from "./summary.ts";

const MIB = 1024 * 1024;

function runOf(change: Partial<Run>): Run {
  return {
    system: "quoin",
    concurrency: 4,
    operations: 4,
    durationMs: 1000,
    elapsedMs: 1500,
    timings: latencies(1, 2, 3, 4),
    attempts: null,
    memberCpuMs: [10, 20, 30],
    memberMemoryBytesMax: [100 * MIB, 200 * MIB, 150 * MIB],
    leaderMainCpuMs: null,
    memberLoopDelayMs: null,
    generatorCpuMs: 8,
    idleCpuMs: null,
    otherCpuMs: null,
    elections: 0,
    ...change,
  };
}

function latencies(...valuesMs: number[]): Run["timings"] {
  return [{ name: "latency", valuesMs: Float64Array.from(valuesMs) }];
}

describe("summary of a benchmark", () => {
  it("interleaves two systems A B B A, and measures one by itself once", () => {
    expect(interleave(["a", "b"])).to.deep.equal(["a", "b", "b", "a"]);
    expect(interleave(["a"])).to.deep.equal(["a"]);
  });

  it("takes the figures over the operations of all runs, not the mean of their figures", () => {
    const slow = { operations: 2, durationMs: 2000, timings: latencies(100, 1000), generatorCpuMs: 10 };
    const point = summarize([runOf({}), runOf({ ...slow, memberMemoryBytesMax: [90 * MIB, 250 * MIB, 1 * MIB] })]);
    expect(point).to.deep.equal({
      system: "quoin",
      concurrency: 4,
      runs: 2,
      operations: 6,
      perSecond: 2,
      timings: [{ name: "latency", p50Ms: 3, p99Ms: 1000, maxMs: 1000 }],
      attemptsPerOperation: null,
      memberCpuSecondsPer1000: 20,
      generatorCpuSecondsPer1000: 3,
      leaderMainMicrosPerOperation: null,
      generatorCpuPercent: 0.6,
      memoryMiBMax: 250,
      memberLoopDelayMs: null,
      elections: 0,
    });
  });

  it("knows nothing about the members if one run does not", () => {
    const point = summarize([runOf({}), runOf({ memberCpuMs: null, memberMemoryBytesMax: null })]);
    expect(point.memberCpuSecondsPer1000).to.equal(null);
    expect(summarize([runOf({ memberMemoryBytesMax: null })]).memoryMiBMax).to.equal(null);
  });

  it("takes the time of the leader's main thread over all operations, in microseconds for one", () => {
    const runs = [
      runOf({ operations: 10, leaderMainCpuMs: 2 }),
      runOf({ operations: 30, leaderMainCpuMs: 4 }),
    ] as const;
    const point = summarize(runs);
    expect(point.leaderMainMicrosPerOperation).to.equal(150);
    expect(summarize([runs[0], runOf({})]).leaderMainMicrosPerOperation).to.equal(null);
    expect(compare(point, { ...point, leaderMainMicrosPerOperation: 300 }).leaderMain).to.equal(0.5);
  });

  it("takes attempts over all operations, the largest delay of each member, and all elections", () => {
    const point = summarize([
      runOf({ attempts: 8, memberLoopDelayMs: [5, 20, 7], elections: 1 }),
      runOf({ attempts: 4, memberLoopDelayMs: [9, 2, 7], elections: 2 }),
    ]);
    expect(point).to.deep.include({ attemptsPerOperation: 1.5, memberLoopDelayMs: [9, 20, 7], elections: 3 });
    expect(summarize([runOf({ memberLoopDelayMs: [1] }), runOf({})]).memberLoopDelayMs).to.equal(null);
  });

  it("divides ours by theirs", () => {
    const ours = summarize([runOf({})]);
    const theirs = summarize([
      runOf({
        durationMs: 500,
        timings: latencies(1, 4, 4, 8),
        memberCpuMs: [30],
        memberMemoryBytesMax: [400 * MIB],
      }),
    ]);
    expect(compare(ours, theirs)).to.deep.equal({
      concurrency: 4,
      perSecond: 0.5,
      timings: [{ name: "latency", p50: 0.5, p99: 0.5 }],
      attempts: null,
      memberCpu: 2,
      leaderMain: null,
      memory: 0.5,
    });
    const unknown = compare(ours, { ...theirs, memberCpuSecondsPer1000: null, memoryMiBMax: 0 });
    expect([unknown.memberCpu, unknown.memory]).to.deep.equal([null, null]);
  });

  it("makes no ratio if a time is below zero", () => {
    const early = summarize([runOf({ timings: latencies(-2, -1, 1, 2) })]);
    const late = summarize([runOf({})]);
    expect(compare(early, late).timings).to.deep.equal([{ name: "latency", p50: null, p99: 0.5 }]);
    expect(compare(late, early).timings).to.deep.equal([{ name: "latency", p50: null, p99: 2 }]);
  });
});
