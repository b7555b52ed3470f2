import { expect } from "chai";
import { type ScheduleTimes, timesOf } from "./schedule-times.ts";

function times(schedule: string, timeZone = "Etc/UTC"): ScheduleTimes {
  const found = timesOf(specOf(schedule, timeZone));
  if (typeof found === "string") {
    throw new Error(found);
  }
  return found;
}

function specOf(schedule: string, timeZone: string) {
  const limits = { successfulHistoryLimit: 3, failedHistoryLimit: 3 };
  return { clusterName: "demo", schedule, timeZone, suspend: false, concurrencyPolicy: "Forbid", ...limits } as const;
}

function next({ next: after }: ScheduleTimes, from: string): string {
  return new Date(after(Date.parse(from)) ?? Number.NaN).toISOString();
}

describe("times of a schedule", () => {
  it("follow the time zone, whatever that of the process is", () => {
    expect(next(times("0 3 * * *", "Asia/Kolkata"), "2026-01-01T00:00:00Z")).to.equal("2026-01-01T21:30:00.000Z");
    expect(next(times("*/15 * * * *"), "2026-01-01T00:15:00Z")).to.equal("2026-01-01T00:30:00.000Z");
  });

  it("run after the gap if the clock skips them in spring, and once if they occur twice in autumn", () => {
    const nightly = times("30 2 * * *", "Europe/Berlin");
    expect(next(nightly, "2026-03-28T12:00:00Z")).to.match(/^2026-03-29T01:/);
    const once = next(nightly, "2026-10-24T12:00:00Z");
    expect(once).to.match(/^2026-10-25T0[01]:30/);
    expect(next(nightly, once)).to.equal("2026-10-26T01:30:00.000Z");
  });

  it("say which run of a span is the newest, its end included and its beginning not", () => {
    const { latest } = times("0 * * * *");
    const at = (text: string): number => Date.parse(`2026-01-01T${text}Z`);
    expect(latest(at("00:00:00"), at("05:59:59"))).to.equal(at("05:00:00"));
    expect(latest(at("00:00:00"), at("05:00:00"))).to.equal(at("05:00:00"));
    expect(latest(at("00:00:00"), at("05:00:00.4"))).to.equal(at("05:00:00"));
    expect(latest(at("05:00:00"), at("05:30:00"))).to.equal(null);
    expect(latest(at("04:59:59"), at("04:59:59.9"))).to.equal(null);
  });

  const refused: readonly [schedule: string, zone: string, message: RegExp][] = [
    ["61 * * * *", "Etc/UTC", /^spec\.schedule 61 .*minute/],
    ["* * * * XYZ", "Etc/UTC", /^spec\.schedule /],
    ["0 0 30 2 *", "Etc/UTC", /^spec\.schedule .* never runs/],
    ["0 3 * * *", "Mars/Base", /^spec\.timeZone Mars\/Base is not a time zone/],
  ];
  for (const [schedule, zone, message] of refused) {
    it(`refuse ${schedule} in ${zone}, and say why`, () => {
      expect(timesOf(specOf(schedule, zone))).to.match(message);
    });
  }
});
