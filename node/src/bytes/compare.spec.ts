import { expect } from "chai";
import fc from "fast-check";
import { beginsWith, compareBytes, equalBytes } from "./compare.ts";

describe("the order of byte strings", () => {
  it("is that of unsigned bytes, the shorter first", () => {
    const any = fc.uint8Array({ maxLength: 4 });
    fc.assert(
      fc.property(any, any, (a, b) => {
        expect(Math.sign(compareBytes(a, b))).to.equal(Buffer.compare(a, b));
        expect(equalBytes(a, b)).to.equal(Buffer.compare(a, b) === 0);
        expect(equalBytes(a, a.slice())).to.equal(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe("a prefix of bytes", () => {
  it("is their beginning, also if it is empty, or all of them", () => {
    const any = fc.uint8Array({ maxLength: 3, max: 2 });
    fc.assert(
      fc.property(any, any, (bytes, prefix) => {
        expect(beginsWith(bytes, prefix)).to.equal(Buffer.from(bytes).subarray(0, prefix.length).equals(prefix));
      }),
      { numRuns: 500 },
    );
  });
});
