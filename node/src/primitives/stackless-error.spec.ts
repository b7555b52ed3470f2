import { expect } from "chai";
import { StacklessError } from "./stackless-error.ts";

describe("StacklessError", () => {
  it("has its message and no frames, and leaves those of other errors", () => {
    const refusal = new StacklessError("no");
    const other = new Error("other");
    expect([refusal.message, refusal.stack]).to.deep.equal(["no", "Error: no"]);
    expect(other.stack).to.match(/\n {4}at /);
  });
});
