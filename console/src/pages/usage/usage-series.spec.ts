import { expect } from "chai";
import type { Usage, UsageNumbers } from "../../api/index.ts";
import { usageSeries } from "./usage-series.ts";

const NUMBERS: UsageNumbers = {
  requests: 3,
  append_requests: 0,
  events_appended: 0,
  bytes_appended: 70,
  bytes_stored: null,
  kv_operations: 2,
  lock_operations: 0,
  memory_operations: 0,
  memory_bytes: null,
};

function usage(start: string, end: string, ...buckets: string[]): Usage {
  return {
    period: { start, end },
    totals: NUMBERS,
    by_key: [],
    namespaces: [],
    limits: { requests_per_minute: 0 },
    as_of: end,
    buckets: buckets.map((at) => ({ ...NUMBERS, start: at })),
  };
}

describe("usage over time", () => {
  it("has a point for each day, also for days without usage", () => {
    const given = usage("2026-03-01T00:00:00.000Z", "2026-03-03T10:00:00.000Z", "2026-03-02T00:00:00.000Z");
    expect(usageSeries(given, "day", "requests")).to.deep.equal([
      { label: "2026-03-01", value: 0 },
      { label: "2026-03-02", value: 3 },
      { label: "2026-03-03", value: 0 },
    ]);
  });

  it("begins with the whole hour in which the period begins", () => {
    const given = usage("2026-03-01T09:30:00.000Z", "2026-03-01T11:00:00.000Z", "2026-03-01T10:00:00.000Z");
    expect(usageSeries(given, "hour", "bytes_appended")).to.deep.equal([
      { label: "2026-03-01 09:00", value: 0 },
      { label: "2026-03-01 10:00", value: 70 },
    ]);
  });
});
