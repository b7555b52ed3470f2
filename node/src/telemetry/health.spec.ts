import { expect } from "chai";
import { Health } from "./health.ts";

describe("Health", () => {
  it("looks anew at each question, and keeps what has started, what is live and what is ready apart", () => {
    let problem: string | null = null;
    const health = new Health({
      started: new Map([["listening", () => "not yet"]]),
      live: new Map([["loop", () => null]]),
      ready: new Map([["leader", () => problem]]),
    });
    expect(health.ready()).to.deep.equal([{ name: "leader", ok: true, reason: "" }]);
    problem = "nobody leads";
    expect(health.ready()).to.deep.equal([{ name: "leader", ok: false, reason: "nobody leads" }]);
    expect(health.started()).to.deep.equal([{ name: "listening", ok: false, reason: "not yet" }]);
    expect(health.live()).to.deep.equal([{ name: "loop", ok: true, reason: "" }]);
  });
});
