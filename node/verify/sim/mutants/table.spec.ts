import { expect } from "chai";
import { describeTable } from "./table.ts";

const MUTANT = { file: "raft/votes.ts", find: "a", replace: "b" };

describe("the table of mutants", () => {
  it("has a line for each, in columns, below titles", () => {
    const table = describeTable([
      {
        mutant: { ...MUTANT, name: "one", pitfall: "P1" },
        rule: "I1",
        killer: "scenario election",
        simulator: "seed 3: I1",
      },
      {
        mutant: { ...MUTANT, name: "longer", pitfall: "P61" },
        rule: "SURVIVED",
        killer: "",
        simulator: "survives 60 seeds",
      },
    ]);
    expect(table.split("\n")).to.deep.equal([
      "mutant  pitfall  rule      killer             simulator",
      "one     P1       I1        scenario election  seed 3: I1",
      "longer  P61      SURVIVED                     survives 60 seeds",
    ]);
  });

  it("cuts long cells", () => {
    const long = "a".repeat(200);
    const table = describeTable([
      { mutant: { ...MUTANT, name: "one", pitfall: "P1" }, rule: long, killer: long, simulator: "" },
    ]);
    expect(table).to.contain("a…  a");
    expect(Math.max(...table.split("\n").map((line) => line.length))).to.be.below(200);
  });
});
