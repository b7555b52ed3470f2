import { expect } from "chai";
import {
  agoText,
  countdownText,
  countText,
  durationText,
  instantText,
  remainingMs,
  shortCountText,
  sizeText,
} from "./quantities.ts";

describe("texts of quantities", () => {
  it("show sizes in the largest unit that fits", () => {
    expect([0, 1023, 1024, 1536, 10 * 1024 * 1024, 123.4 * 1024 ** 3].map(sizeText)).to.deep.equal([
      ...["0 B", "1023 B", "1 KiB", "1.50 KiB", "10 MiB", "123 GiB"],
    ]);
  });

  it("separate thousands, whatever the locale", () => {
    expect([0, 999, 1000, 1234567].map(countText)).to.deep.equal(["0", "999", "1,000", "1,234,567"]);
  });

  it("shorten large counts and keep small ones exact", () => {
    expect([0, 0.25, 7, 42.5, 9876, 12345, 4560000, 2e9].map(shortCountText)).to.deep.equal([
      ...["0", "0.25", "7", "42.5", "9,876", "12.3k", "4.56M", "2G"],
    ]);
  });

  it("count down from the time of the report, never below 0, and not up if the clock was set back", () => {
    expect(remainingMs("5000", 100_000, 102_000)).to.equal(3_000);
    expect(remainingMs("5000", 100_000, 200_000)).to.equal(0);
    expect(remainingMs("5000", 100_000, 90_000)).to.equal(5_000);
  });

  it("show durations by their two largest units", () => {
    expect([0, 0.4, 350, 4_200, 59_400, 60_000, 185_000, 7_260_000, 187_200_000].map(durationText)).to.deep.equal([
      ...["0 ms", "0.40 ms", "350 ms", "4.2 s", "59 s", "1 min", "3 min 5 s", "2 h 1 min", "2 d 4 h"],
    ]);
  });

  it("count down in whole seconds, and show the last one until the end", () => {
    expect([0, 1, 8_000, 59_001, 68_000, 7_384_000].map(countdownText)).to.deep.equal([
      ...["0 s", "1 s", "8 s", "1:00", "1:08", "2:03:04"],
    ]);
  });

  it("show how long ago something was, by one unit", () => {
    expect(agoText(1_000, 1_400)).to.equal("just now");
    expect(agoText(0, 185_000)).to.equal("3 min ago");
  });

  it("show instants in UTC, in every time zone", () => {
    expect(instantText(Date.UTC(2026, 4, 4, 7, 8, 9, 999))).to.equal("2026-05-04 07:08:09");
  });
});
