import { expect } from "chai";
import { Health } from "./health.ts";

describe("Health", () => {
  it("looks anew at each question, and keeps what is live apart from what is ready", () => {
    let problem: string | null = null;
    const health = new Health(new Map([["loop", () => null]]), new Map([["leader", () => problem]]));
    expect(health.ready()).to.deep.equal([{ name: "leader", ok: true, reason: "" }]);
    problem = "nobody leads";
    expect(health.ready()).to.deep.equal([{ name: "leader", ok: false, reason: "nobody leads" }]);
    expect(health.live()).to.deep.equal([{ name: "loop", ok: true, reason: "" }]);
  });
});
