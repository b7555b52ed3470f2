import { expect } from "chai";
import { until } from "../../../test/harness/index.ts";
import { systemClock, systemScheduler } from "./system-clock.ts";

describe("system clock", () => {
  it("runs forwards, with fractions, and knows the time of day in whole milliseconds", () => {
    const readings = Array.from({ length: 100 }, () => systemClock.monotonicMs());
    expect(readings).to.deep.equal(readings.toSorted((a, b) => a - b));
    expect(readings.some((reading) => !Number.isInteger(reading))).to.equal(true);
    const wallMs = systemClock.wallMs();
    expect(Number.isInteger(wallMs)).to.equal(true);
    expect(Math.abs(wallMs - Date.now())).to.be.lessThan(60_000);
  });

  it("calls back in turns of their own, in order", async () => {
    const called: string[] = [];
    systemScheduler.immediate(() => called.push("first"));
    systemScheduler.immediate(() => called.push("second"));
    expect(called).to.deep.equal([]);
    await until("both", () => called.length === 2);
    expect(called).to.deep.equal(["first", "second"]);
  });

  it("calls back again and again until it is stopped", async () => {
    let calls = 0;
    const stop = systemScheduler.every(1, () => calls++);
    await until("three calls", () => calls >= 3);
    stop();
    const before = calls;
    let other = 0;
    const stopOther = systemScheduler.every(1, () => other++);
    await until("calls of another", () => other >= 5);
    stopOther();
    expect(calls).to.equal(before);
  });
});
