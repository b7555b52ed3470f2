import { expect } from "chai";
import type { MemberSample } from "../members/index.ts";
import { CallTotals } from "./call-totals.ts";
import type { SoakSample } from "./samples.ts";
import { callTrends, processTrends, type Trend } from "./summary.ts";

const MIB = 1_024 * 1_024;
const HOUR = 3_600;

function memberOf(residentMib: number, cpuMs: number): MemberSample {
  return {
    residentBytes: residentMib * MIB,
    heapBytes: 30 * MIB,
    descriptors: 60,
    threads: 15,
    cpuMs,
    logBytes: 20 * MIB,
    stateBytes: 40 * MIB,
    loopDelayMs: 4,
  };
}

/** A sample a minute of one member, whose memory grows by 1 MiB a minute, with 50 ms of processor time a second. */
const SAMPLES: readonly SoakSample[] = Array.from({ length: 60 }, (_, minute) => ({
  atSeconds: minute * 60,
  members: [minute === 15 ? null : memberOf(100 + minute, minute * 3_000)],
  clients: { residentBytes: 200 * MIB, heapBytes: 50 * MIB },
  calls: {},
}));

function trendNamed(trends: readonly Trend[] | undefined, name: string): Trend | undefined {
  return trends?.find((trend) => trend.name === name);
}

describe("the summary of a load", () => {
  it("compares the medians of the second sixth and of the last one, and has the growth in an hour", () => {
    const [member, clients] = processTrends(SAMPLES, HOUR);
    const resident = trendNamed(member?.trends, "resident MiB");
    // Minutes 10 to 19 without the 15th, and minutes 50 to 59.
    expect(resident).to.deep.equal({ name: "resident MiB", second: 114, last: 154, perHour: 60 });
    expect(trendNamed(member?.trends, "descriptors")).to.include({ second: 60, last: 60, perHour: 0 });
    expect(trendNamed(member?.trends, "CPU ms/s")).to.include({ second: 50, last: 50, perHour: 0 });
    expect(clients).to.deep.equal({
      at: null,
      trends: [{ name: "resident MiB", second: 200, last: 200, perHour: 0 }],
    });
  });

  it("counts processor time only within one process", () => {
    const restarted = SAMPLES.map((sample, minute) => ({
      ...sample,
      members: [memberOf(100, (minute >= 55 ? minute - 55 : minute) * 3_000)],
    }));
    expect(trendNamed(processTrends(restarted, HOUR)[0]?.trends, "CPU ms/s")).to.include({ last: 50 });
  });

  it("knows nothing of a member that never answered", () => {
    const silent = SAMPLES.map((sample) => ({ ...sample, members: [null] }));
    const [member] = processTrends(silent, HOUR);
    expect(member?.trends.map(({ perHour }) => perHour)).to.deep.equal(Array(8).fill(null));
  });

  it("has the times of calls without a fault, and the longest of all", () => {
    const totals = new CallTotals(HOUR);
    for (const [minute] of SAMPLES.entries()) {
      const common = { answeredMs: 5_000 + minute * 60_000, failed: 0, isDisturbed: false };
      totals.add({ ...common, kind: "put", tookMs: minute < 30 ? 10 : 14 }, 5_000);
      totals.add({ ...common, kind: "put", tookMs: 2_000 + minute, failed: 2, isDisturbed: true }, 5_000);
      totals.add({ ...common, kind: "get", tookMs: 1 }, 5_000);
    }
    const [get, put] = callTrends(totals.byKind, HOUR);
    expect(totals.byKind.get("get")?.sixths, "only the times that are compared are kept").to.deep.equal([
      Array(10).fill(1),
      Array(10).fill(1),
    ]);
    expect(get).to.deep.include({ kind: "get", count: 60, failed: 0, maxMs: 1 });
    expect(put).to.deep.equal({
      kind: "put",
      count: 120,
      failed: 120,
      p50: { name: "p50 ms", second: 10, last: 14, perHour: 6 },
      p99: { name: "p99 ms", second: 10, last: 14, perHour: 6 },
      maxMs: 2_059,
    });
  });
});
