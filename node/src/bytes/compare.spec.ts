import { expect } from "chai";
import fc from "fast-check";
import { compareBytes, equalBytes } from "./compare.ts";

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
