import { expect } from "chai";
import { Health } from "./health.ts";

describe("Health", () => {
  it("runs the checks again for each request, and keeps started, live and ready apart", () => {
    let problem: string | null = null;
    const health = new Health({
      started: new Map([["listening", () => "not yet"]]),
      live: new Map([["loop", () => null]]),
      ready: new Map([["leader", () => problem]]),
    });
    expect(health.ready()).to.deep.equal([{ name: "leader", ok: true, reason: "" }]);
    problem = "no member leads";
    expect(health.ready()).to.deep.equal([{ name: "leader", ok: false, reason: "no member leads" }]);
    expect(health.started()).to.deep.equal([{ name: "listening", ok: false, reason: "not yet" }]);
    expect(health.live()).to.deep.equal([{ name: "loop", ok: true, reason: "" }]);
  });
});
