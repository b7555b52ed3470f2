import { expect } from "chai";
import { drawScript, Simulation } from "./index.ts";

describe("the length of a run", () => {
  it("is bounded by events and by time, and a run that was cut short keeps every rule", async () => {
    const script = drawScript(1);
    const whole = await new Simulation(script).run();
    const cut = await new Simulation(script, null, Math.floor(whole.events / 4)).run();
    expect([whole.failure, cut.failure]).to.deep.equal([null, null]);
    expect(cut.events).to.be.below(whole.events / 2);
    expect(cut.nowMs).to.be.below(whole.nowMs);
    expect(cut.counts.requests).to.be.below(whole.counts.requests ?? 0);
  });
});
