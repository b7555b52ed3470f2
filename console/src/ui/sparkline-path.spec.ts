import { expect } from "chai";
import { sparklinePath } from "./sparkline-path.ts";

describe("the path of a sparkline", () => {
  it("goes from the left to the right, with 0 at the bottom and the greatest value at the top", () => {
    expect(sparklinePath([0, 5, 10], 100, 23)).to.deep.equal({
      line: "M0 21.5L50 11.5L100 1.5",
      area: "M0 21.5L50 11.5L100 1.5L100 23L0 23Z",
    });
  });

  it("is flat at the bottom without any value above 0, and empty without values", () => {
    expect(sparklinePath([0, 0], 10, 23).line).to.equal("M0 21.5L10 21.5");
    expect(sparklinePath([], 10, 23)).to.deep.equal({ line: "", area: "" });
  });
});
