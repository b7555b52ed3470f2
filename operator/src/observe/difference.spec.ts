import { expect } from "chai";
import { covers, digestOf } from "./difference.ts";

describe("difference between an object and what is wanted", () => {
  const rows: readonly (readonly [what: string, live: unknown, wanted: unknown, same: boolean])[] = [
    ["what others have added", { a: 1, b: 2, c: [{ x: 1, y: 2 }] }, { a: 1, c: [{ x: 1 }] }, true],
    ["another value", { a: 1 }, { a: 2 }, false],
    ["what is missing", {}, { a: 1 }, false],
    ["what is missing and empty anyway", {}, { a: {}, b: [], c: undefined, d: "" }, true],
    ["an empty object where a value was", "a", {}, true],
    ["false, which is not empty", {}, { a: false }, false],
    ["zero, which is not empty", {}, { a: 0 }, false],
    ["amounts in another notation", { a: "1Gi", b: "500m" }, { a: "1024Mi", b: "0.5" }, true],
    ["an amount that was written as a number", { a: "2" }, { a: 2 }, true],
    ["other amounts below one", { a: "250m" }, { a: "500m" }, false],
    ["the same amounts below one", { a: "700m" }, { a: 0.7 }, true],
    ["other amounts", { a: "1G" }, { a: "1Gi" }, false],
    ["objects that others have added to a list", { a: [{ x: 1 }, { x: 2 }] }, { a: [{ x: 2 }] }, true],
    ["an object that is missing from a list", { a: [{ x: 1 }, { x: 2 }] }, { a: [{ x: 3 }] }, false],
    ["a longer list", { a: [1, 2] }, { a: [1] }, false],
    ["a list in another order", { a: [1, 2] }, { a: [2, 1] }, false],
    ["text that looks alike", { a: "v1" }, { a: "v10" }, false],
    ["an object in place of a list", { a: {} }, { a: [1] }, false],
    ["nothing at all", null, { a: 1 }, false],
  ];
  for (const [what, live, wanted, same] of rows) {
    it(`${same ? "is none for" : "sees"} ${what}`, () => {
      expect(covers(live, wanted)).to.equal(same);
    });
  }

  it("has one digest for the same content in any order, and another for another", () => {
    expect(digestOf({ a: 1, b: { c: 2, d: 3 } })).to.equal(digestOf({ b: { d: 3, c: 2 }, a: 1 }));
    expect(digestOf({ a: [1, 2] })).to.not.equal(digestOf({ a: [2, 1] }));
  });
});
