import { expect } from "chai";
import { InvalidArgumentError } from "commander";
import { formatMilliseconds, parseDurationMs, parseDurationSeconds, parseWaitMs } from "./duration.ts";

function assertRefused(parse: (text: string) => number, texts: readonly string[]): void {
  for (const text of texts) {
    expect(() => parse(text), JSON.stringify(text)).to.throw(InvalidArgumentError);
  }
}

describe("durations", () => {
  it("are in seconds without a unit, else in ms, s, m or h", () => {
    expect(["90", "90s", "500ms", "5m", "1h"].map(parseDurationMs)).to.deep.equal([
      90_000, 90_000, 500, 300_000, 3_600_000,
    ]);
    expect(["1", "90s", "2000ms", "5m", "24h"].map(parseDurationSeconds)).to.deep.equal([1, 90, 2, 300, 86_400]);
  });

  it("are refused if they are zero, too long or not a duration", () => {
    const bad = ["", "0", "0s", "-1", "1.5", "1e3", " 1", "1 s", "1d", "s", "0x10", "9999999999999999999", "1h30m"];
    assertRefused(parseDurationMs, bad);
    assertRefused(parseDurationSeconds, [...bad, "500ms", "1500ms"]);
  });

  it("of waiting may be 0: do not wait", () => {
    expect(["0", "90", "500ms"].map(parseWaitMs)).to.deep.equal([0, 90_000, 500]);
    assertRefused(parseWaitMs, ["", "0s", "-1", "soon"]);
  });

  it("are shown in ms below one second, else in seconds", () => {
    expect([0, 999, 1_000, 12_345].map(formatMilliseconds)).to.deep.equal(["0ms", "999ms", "1.0s", "12.3s"]);
  });
});
