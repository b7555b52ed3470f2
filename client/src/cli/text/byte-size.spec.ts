import { expect } from "chai";
import { formatSize, parseSize } from "./byte-size.ts";

describe("sizes", () => {
  it("are read in bytes and in binary units", () => {
    for (const [text, bytes] of [
      ["1", 1],
      ["4096", 4_096],
      ["1B", 1],
      ["64KiB", 65_536],
      ["16MiB", 16_777_216],
      ["2GiB", 2_147_483_648],
    ] as const) {
      expect(parseSize(text), text).to.equal(bytes);
    }
    for (const text of ["", "0", "-1", "1.5MiB", "1MB", "1 KiB", "9007199254740992", "9999TiB", "1e3"]) {
      expect(() => parseSize(text), text).to.throw("Give a size");
    }
  });

  it("are shown in the largest unit that leaves at least 1", () => {
    expect([0, 1_023, 1_024, 1_536, 16_777_216].map(formatSize)).to.deep.equal([
      "0 B",
      "1023 B",
      "1.0 KiB",
      "1.5 KiB",
      "16.0 MiB",
    ]);
  });
});
