import { expect } from "chai";
import type { RunResult } from "./run-result.ts";
import { drawScript, type Script, type ScriptItem } from "./script.ts";
import { shrink } from "./shrink.ts";

/** A run that breaks the rule if its script has these items and at least this many members. */
function simulator(needed: readonly ScriptItem[], members: number): (script: Script) => RunResult {
  return (script) => {
    const isBroken = needed.every((item) => script.items.includes(item)) && script.plan.members >= members;
    const isOther = script.items.length === 0;
    const rule = isBroken ? "the rule" : "another rule";
    return {
      script,
      failure: isBroken || isOther ? { rule, details: "" } : null,
      traceHash: "",
      checkpoints: [],
      nowMs: 90_000,
      grownMs: 1_000,
      events: 0,
      lines: [],
      states: "",
      reached: new Map(),
      counts: {},
    };
  };
}

describe("a script that is shrunk", () => {
  const script = { ...drawScript(3), plan: { ...drawScript(3).plan, members: 5 } };
  const needed = [17, 18, 120].map((at) => script.items[at] as ScriptItem);

  it("keeps only what its failure needs", async () => {
    const simulate = simulator(needed, 3);
    const { result, runs } = await shrink(simulate(script), simulate);
    expect(result.script.items).to.deep.equal(needed);
    expect(result.script.plan.members).to.equal(3);
    expect(result.failure?.rule).to.equal("the rule");
    expect(runs).to.be.at.most(200);
  });

  it("does not count as shorter when it breaks another rule", async () => {
    const simulate = simulator(script.items, 5);
    const { result } = await shrink(simulate(script), simulate, 20);
    expect(result.script).to.equal(script);
  });

  it("is left as it is when no runs are left", async () => {
    const simulate = simulator(needed, 1);
    const { result, runs } = await shrink(simulate(script), simulate, 3);
    expect(runs).to.equal(3);
    expect(needed.every((item) => result.script.items.includes(item))).to.equal(true);
  });
});
