import { expect } from "chai";
import { InvalidArgumentError } from "commander";
import { parseCount, parsePositiveCount } from "./count.ts";

function assertRefused(parse: (text: string) => number, texts: readonly string[]): void {
  for (const text of texts) {
    expect(() => parse(text), JSON.stringify(text)).to.throw(InvalidArgumentError);
  }
}

describe("counts", () => {
  it("are whole numbers in decimal up to 2^53 - 1 (S17)", () => {
    expect(["0", "7", "9007199254740991"].map(parseCount)).to.deep.equal([0, 7, Number.MAX_SAFE_INTEGER]);
    assertRefused(parseCount, ["", "-1", "1.0", "1e3", "0x1", "9007199254740992", "abc", " 1"]);
  });

  it("are at least 1 where that is required", () => {
    expect(parsePositiveCount("1")).to.equal(1);
    assertRefused(parsePositiveCount, ["0", "-1", ""]);
  });
});
