import { expect } from "chai";
import { limitFor } from "./answer-limit.ts";

describe("the time that clients of the nemesis wait for an answer", () => {
  it("is the usual one on a machine that has time, longer on a busy one, and bounded", () => {
    expect(limitFor([3, 4, 5, 900, 4])).to.equal(200);
    expect(limitFor([60, 50, 55])).to.equal(550);
    expect(limitFor([900, 900, 900])).to.equal(2_000);
  });
});
