import { expect } from "chai";
import type { CounterSample, MemberCounters } from "../../api/index.ts";
import { failureRates, latencies, mergedSeries, processorShares, requestRates, WINDOW_MS } from "./member-series.ts";

const REQUESTS = { kind: "KEY_READ", ok: 40, refused: 9, failed: 1, p50Us: "900", p99Us: "2500" };

function sample(atMs: number, changes: Partial<CounterSample> = {}): CounterSample {
  return {
    atMs: String(atMs),
    intervalMs: 5_000,
    requests: [],
    lagMs: "0",
    role: "FOLLOWER",
    loopDelayUs: "0",
    processorUs: "0",
    memoryBytes: "0",
    dbSizeBytes: "0",
    diskFreeBytes: "0",
    streams: 0,
    connections: 0,
    ...changes,
  };
}

function member(id: string, ...atMs: number[]): MemberCounters {
  return { id, name: `q-${id}`, problem: "", status: undefined, samples: atMs.map((ms) => sample(ms)) };
}

describe("series of a member's counters", () => {
  it("grow by what is new, and keep the members apart", () => {
    const first = mergedSeries([], [member("1", 5_000, 10_000), member("2", 6_000)]);
    const second = mergedSeries(first, [member("2", 6_000, 11_000), member("1", 10_000, 15_000)]);
    expect(second.map(({ member, samples }) => [member.id, samples.map(({ atMs }) => atMs)])).to.deep.equal([
      ["2", ["6000", "11000"]],
      ["1", ["5000", "10000", "15000"]],
    ]);
  });

  it("forget members that are gone, and samples before the window", () => {
    const known = mergedSeries([], [member("1", 5_000), member("2", 5_000)]);
    const next = mergedSeries(known, [member("1", 6_000 + WINDOW_MS)]);
    expect(next.map(({ samples }) => samples.map(({ atMs }) => Number(atMs)))).to.deep.equal([[6_000 + WINDOW_MS]]);
  });

  it("keep what is known of a member that does not answer", () => {
    const known = mergedSeries([], [member("1", 5_000)]);
    const [silent] = mergedSeries(known, [{ ...member("1"), problem: "it did not answer" }]);
    expect([silent?.member.problem, silent?.samples.length]).to.deep.equal(["it did not answer", 1]);
  });

  it("count requests and failures per second, and take the slowest kind", () => {
    const samples = [sample(1, { requests: [REQUESTS, { ...REQUESTS, kind: "LOCK", p99Us: "4000" }] }), sample(2)];
    expect(requestRates(samples)).to.deep.equal([20, 0]);
    expect(failureRates(samples)).to.deep.equal([0.4, 0]);
    expect(latencies(samples)).to.deep.equal([4, 0]);
  });

  it("measure the processor in cores", () => {
    expect(processorShares([sample(1, { processorUs: "7500000" })])).to.deep.equal([1.5]);
  });
});
