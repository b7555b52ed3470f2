import { expect } from "chai";
import { drawScript, Simulation } from "./index.ts";

/** A run that takes less than a second of a processor, and a minute of simulated time. */
const SEED = 11;

describe("the length of a run", () => {
  it("is bounded by events and by time, and a run that was cut short keeps every rule", async () => {
    const script = drawScript(SEED);
    const whole = await new Simulation(script).run();
    const cut = await new Simulation(script, null, Math.floor(whole.events / 4)).run();
    expect([whole.failure, cut.failure]).to.deep.equal([null, null]);
    expect(cut.events).to.be.below(whole.events / 2);
    expect(cut.nowMs).to.be.below(whole.nowMs);
    expect(cut.counts.requests).to.be.below(whole.counts.requests ?? 0);
  });
});
