import { expect } from "chai";
import { countOutcomes } from "./outcome-counts.ts";

describe("the count of outcomes", () => {
  it("distinguishes kinds and outcomes", () => {
    const counted = countOutcomes([
      { kind: "put", outcome: "ok" },
      { kind: "get", outcome: "not-executed" },
      { kind: "put", outcome: "unknown" },
      { kind: "put", outcome: "ok" },
    ]);
    expect(counted).to.deep.equal([
      { kind: "put", ok: 2, notExecuted: 0, unknown: 1 },
      { kind: "get", ok: 0, notExecuted: 1, unknown: 0 },
    ]);
  });
});
